/** A loss of every token, before aggregation. */
export interface TokenLosses {
  loss: Float64Array;
  /** d loss / d logprob of the token. */
  gradient: Float64Array;
}
