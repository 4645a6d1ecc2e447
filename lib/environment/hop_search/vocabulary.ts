/** Words that a hop-search instruction can be made of, and what the warm-started policy makes of them. */
export const INSTRUCTION_WORDS = [
  ...["memory", "quick", "search", "lookup", "step", "decompose", "short", "only", "explain", "sentence"],
  ...["please", "carefully", "expert", "helpful", "think", "well", "always", "now", "kindly", "assist", "answer"],
  ...["user", "task", "question", "gently", "read", "focus", "calm", "clear", "best", "smart", "ready", "then"],
  ...["thanks", "great", "sure", "begin", "goal", "plan", "check", "note", "good", "trust", "true"],
] as const;

/** Relations of the encyclopaedia. */
export const RELATIONS = ["capital", "founder", "river", "teacher", "rival", "origin"] as const;

/** Entities of the encyclopaedia: invented names, so that nobody mistakes a fact for one of the real world. */
export const ENTITIES = [
  ...["Avero", "Belin", "Cador", "Delmu", "Eskar", "Falun", "Goren", "Hivat", "Ilsor", "Jarek", "Kelda", "Lomir"],
  ...["Marun", "Nevos", "Ostra", "Pelin", "Quara", "Rodan", "Selka", "Tirum", "Ulvar", "Vesna", "Wolin", "Xanor"],
  ...["Yelda", "Zoran", "Abrin", "Bosko", "Cyrel", "Dovan", "Elmas", "Fenor", "Galdu", "Heska", "Irmin", "Jolka"],
  ...["Kyrus", "Ledan", "Mirov", "Nalsa", "Orvin", "Pasko", "Ravel", "Sorul", "Tolka", "Umera", "Velun", "Zilka"],
] as const;

/** Tokens that are neither instruction, relation nor entity; the first three belong to the tokenizer itself. */
export const SPECIALS = [
  ...["<pad>", "<bos>", "<unk>", "Question:", "?", "<search>", "</search>", "<information>", "</information>"],
  ...["<answer>", "</answer>", "probably", "none", "invalid"],
] as const;

/** What the environment says to a turn without action: the micro form of Search-R1's "My previous action is invalid…". */
export const INVALID_ACTION = "invalid";

/** The word that a verbose answer begins with; it makes an exact match fail, as an explanation does in real text. */
export const VERBOSE_WORD = "probably";

/** All tokens in the order of their ids. */
export const VOCABULARY: readonly string[] = [...SPECIALS, ...INSTRUCTION_WORDS, ...RELATIONS, ...ENTITIES];
