/** A question with its gold answers. */
export interface QaTask {
  /** Unique within its source. */
  id: string;
  /** Data set it comes from, e.g. `nq`; Search-R1 calls it data_source. */
  source: string;
  question: string;
  goldAnswers: readonly string[];
  /** Row number within the source set; Search-R1 groups by it (see `groupKey` of the protocol). */
  row?: number;
}
