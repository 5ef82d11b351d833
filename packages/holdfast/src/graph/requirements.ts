/** What a graph needs of its host. */
export interface GraphRequirements {
  readonly memory: 'required' | 'unused';
}
