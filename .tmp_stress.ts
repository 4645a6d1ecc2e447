import { readRun } from "./lib/record/read_run.ts";
const d = Deno.makeTempDirSync()+"/r", calm = Deno.makeTempDirSync()+"/r";
const run = async (dir: string, kill: number|null) => { const c = new Deno.Command(Deno.execPath(), {args:["run","-A","--quiet","test/record/fixtures/write_run.ts",dir],stdout:"piped",stderr:"piped"}).spawn();
  const r = c.stdout.getReader(); await r.read(); if (kill!==null) { await new Promise(x=>setTimeout(x,kill)); try{c.kill("SIGKILL")}catch{/**/} }
  for(;;){ if((await r.read()).done) break; } const e = await new Response(c.stderr).text(); const s = await c.status; if (e) console.log("ERR", e); return s.signal ?? s.code; };
await run(calm, null);
let n=0, rounds=0;
for (let round=0; round<12; round++) { const dir=d+round; for(;;){ const r = await run(dir, Math.random()*60); if (r!=="SIGKILL") break; n++; if ((await readRun(dir)).status?.state==="finished") break; }
 for (const f of ["journal.jsonl","samples.jsonl","timing.jsonl"]) if (Deno.readTextFileSync(dir+"/"+f)!==Deno.readTextFileSync(calm+"/"+f)) console.log("DIFF", round, f); rounds++; }
console.log({kills:n, rounds});
