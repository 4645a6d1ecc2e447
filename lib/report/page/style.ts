import { paletteProperties } from "../plots/palette.ts";

/** The page's style sheet: colours for light and dark, one column on telephones, a table of contents beside it on wide pages. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;${
  paletteProperties("light")
};--line:#dde2e8;--soft:#f5f7f9;--shade:#1a1f2618;--link:#0a56b0}
@media(prefers-color-scheme:dark){:root{${
  paletteProperties("dark")
};--line:#2b323b;--soft:#1b2027;--shade:#0009;--link:#7db8ff}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:80rem;padding:2.5rem clamp(1rem,4vw,3rem) 4rem;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:break-word}
h1,h2,h3,p,dl,ul,ol,figure{margin:0}
h1{font-size:clamp(1.6rem,1.2rem + 1.8vw,2.3rem);line-height:1.15;letter-spacing:-.015em}
h2{font-size:1.35rem;line-height:1.25;letter-spacing:-.01em;margin-bottom:1.1rem}
h3{font-size:1rem;line-height:1.4}
a{color:var(--link);text-underline-offset:.15em;text-decoration-thickness:.06em}
a:hover{text-decoration-thickness:.12em}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.85em}
pre{margin:.5rem 0 0;padding:.7rem .9rem;background:var(--soft);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}
summary{cursor:pointer}
.skip{position:absolute;left:-100vw}
.skip:focus{left:1rem;top:.5rem;padding:.4rem .8rem;background:var(--paper)}
header{margin-bottom:2.5rem}
.subtitle{margin-top:.4rem;color:var(--muted)}
.summary{margin-top:1.3rem;max-width:46rem;font-size:1.15rem;line-height:1.5}
.facts-list{display:flex;flex-wrap:wrap;gap:.8rem 2.4rem;margin-top:1.5rem}
dt{color:var(--muted);font-size:.8rem}
dd{margin:0;overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;padding:.8rem 0;list-style:none;border-block:1px solid var(--line)}
section{padding-top:2.75rem}
.prose,.intro,figcaption,.notes{max-width:44rem}
.prose+.prose{margin-top:.8rem}
.intro{margin-bottom:1rem;color:var(--muted)}

.claims{padding:0;list-style:none;border-top:1px solid var(--line)}
.claim{display:grid;gap:.9rem 3rem;padding:1.3rem 0 1.4rem;border-bottom:1px solid var(--line)}
.claim-text{display:grid;gap:.35rem;align-content:start}
.contrast{color:var(--muted);font-size:.9rem}
.claim-head{display:flex;align-items:center;gap:.7rem}
.claim-id{color:var(--muted);font-variant-numeric:tabular-nums}
.claim h3{font-size:1.06rem;max-width:44rem}
.finding{max-width:44rem}
.badge{display:inline-block;padding:.1rem .6rem;border:1px solid currentColor;border-radius:99px;font-size:.82rem;font-weight:600;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.open{color:var(--open)}.muted{color:var(--muted)}
.numbers{display:grid;grid-template-columns:6.5rem minmax(0,1fr);align-content:start;white-space:nowrap;gap:.6rem 1.5rem;max-width:20rem;font-variant-numeric:tabular-nums}

.scroll{overflow-x:auto;max-width:100%;background:linear-gradient(to right,var(--paper) 40%,transparent) left/2.5rem 100% no-repeat local,linear-gradient(to left,var(--paper) 40%,transparent) right/2.5rem 100% no-repeat local,linear-gradient(to right,var(--shade),transparent) left/.6rem 100% no-repeat scroll,linear-gradient(to left,var(--shade),transparent) right/.6rem 100% no-repeat scroll}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.4}
caption{padding-bottom:.7rem;text-align:left;font-weight:600;font-size:1rem}
th,td{padding:.5rem 1.1rem .5rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
th{font-weight:400}
thead th{color:var(--muted);font-size:.8rem;white-space:nowrap;vertical-align:bottom}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
sup{line-height:0;font-size:.72em}
.scroll+.notes+.scroll{margin-top:2.2rem}
.metric th{padding-top:1.5rem;font-weight:600}
.metric-name{position:sticky;left:0;max-width:min(44rem,calc(100vw - 2rem))}
.protocol{display:block;color:var(--muted);font-weight:400;font-size:.85rem}
.results tbody th[scope=row]{min-width:9rem}
.each-seed{display:block;color:var(--muted);font-size:.8rem;font-variant-numeric:tabular-nums;white-space:nowrap}
.verdict{color:var(--muted);white-space:nowrap}
.strip{display:flex;align-items:center;gap:.4rem}.strip svg{flex:none}
.rail-end{color:var(--muted);font-size:.7rem;line-height:1;font-variant-numeric:tabular-nums}
.strip .rail{stroke:var(--line)}.strip .interval{stroke:var(--series-1);stroke-width:6;stroke-opacity:.28}.strip .mean{stroke:var(--series-1);stroke-width:2}.strip circle{fill:var(--ink);fill-opacity:.75}
.notes{margin-top:1rem;padding:0;list-style:none;color:var(--muted);font-size:.85rem}
.notes li+li{margin-top:.25rem}

figure+figure{margin-top:3rem}
.drawing{margin-top:.8rem}
.drawing svg{display:block;max-width:100%;height:auto}
.for-narrow{display:none}
figcaption{margin-top:.6rem;color:var(--muted);font-size:.9rem}

.texts{table-layout:fixed}
.texts th:first-child{width:5rem}.texts th:last-child{width:15rem}
.texts td{overflow-wrap:anywhere}
.texts .prose{white-space:pre-wrap;max-width:none}
.texts tbody th{font-weight:600;overflow-wrap:anywhere}
.texts details p{margin-top:.6rem}
.facts span{color:var(--muted);font-size:.88rem}
.facts span+span::before{content:" · "}
.facts .status{color:var(--ink)}
.emphasised{background:var(--soft);box-shadow:-.6rem 0 var(--soft),.6rem 0 var(--soft)}
.emphasised .status{font-weight:600}

.runs td,.runs th{white-space:nowrap}
.runs tr:first-child>*{border-bottom:0;padding-bottom:.1rem}
.command td{white-space:normal;padding-top:0;color:var(--muted);font-size:.88rem}
.command pre{color:var(--ink)}
.unfinished{color:var(--bad);font-weight:600}
.files{margin-top:.5rem}
.files a{margin-right:.8rem}

footer{margin-top:3.5rem;padding-top:1.5rem;border-top:1px solid var(--line);font-size:.9rem}
footer h2{font-size:1rem;margin:0}
footer .facts-list{margin-top:.8rem}

@media(min-width:75rem){
.layout{display:grid;grid-template-columns:11rem minmax(0,1fr);gap:3rem;border-top:1px solid var(--line)}
nav{padding-top:2.9rem}
nav ul{position:sticky;top:1.5rem;flex-direction:column;padding:0;border:0}
nav a{text-decoration:none}
}
@media(min-width:56rem){.claim{grid-template-columns:minmax(0,1fr) 17rem}.numbers{padding-top:.2rem}}
@media(max-width:46rem){
body{padding-top:1.5rem}
.for-wide{display:none}.for-narrow{display:block}
.for-narrow svg{width:100%;max-width:30rem}
.texts,.texts tbody,.texts tr,.texts td,.texts tbody th{display:block;width:auto}
.texts thead{display:none}
.texts tr{padding:.9rem 0;border-bottom:1px solid var(--line)}
.texts td,.texts tbody th{padding:0;border:0}
.facts{margin-top:.4rem}
.emphasised{margin:0 -.6rem;padding-inline:.6rem!important;box-shadow:none}
}
@media print{nav,.skip{display:none}.scroll{overflow:visible}}
`;
