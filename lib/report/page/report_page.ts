import type { ClaimTable, ContrastTable, ResultTable } from "../result_table.ts";

/** A label with its value. */
export interface Fact {
  label: string;
  value: string;
}

/** A figure, drawn for wide pages and for telephones; `figureOf()` makes one. */
export interface Figure {
  /** For links; unique in the page. */
  id: string;
  title: string;
  /** How to read it, in sentences. */
  caption: string;
  /** SVG of `plots/`; inserted as it is, so never text of others. */
  wide: string;
  narrow: string;
}

/** A text that a method evolved: an instruction, a skill, a template. */
export interface EvolvedText {
  id: string;
  /** In full. */
  text: string;
  /** Short facts: when it was born, from whom, its weight. */
  facts: readonly string[];
  /** One or two words, e.g. `accepted`, `not accepted`. */
  status: string;
  /** The one to look at: what the final evaluation read. */
  isEmphasised?: boolean;
}

/** A run behind the page's numbers. */
export interface RunEntry {
  arm: string;
  seed: number;
  state: "finished" | "running" | "failed" | "interrupted";
  /** What makes it again. */
  command: string;
  /** Commit of the code, or `unresolved`. */
  commit: string;
  /** Whether the checkout had uncommitted changes (kept as code.diff). */
  isModified?: boolean;
  configHash: string;
  /** The run's files by their path relative to the page's folder, with `/`. */
  files: readonly { name: string; path: string }[];
}

/** Everything on a report's page, as plain data. A section without content is left out. */
export interface ReportPage {
  title: string;
  subtitle?: string;
  /** What came out, in one or two sentences. */
  summary: string;
  /** The first things to know: scale, cells, budget, command. */
  facts: readonly Fact[];
  claims: ClaimTable | null;
  results: readonly ResultTable[];
  /** Contrasts over a sensitivity grid; empty without one. */
  contrasts: readonly ContrastTable[];
  figures: readonly Figure[];
  texts: { title: string; intro: string; rows: readonly EvolvedText[] } | null;
  runs: readonly RunEntry[];
  /** Paragraphs. */
  howToRead: readonly string[];
  /** Footer: versions, panel hashes, hardware, date. */
  provenance: readonly Fact[];
}
