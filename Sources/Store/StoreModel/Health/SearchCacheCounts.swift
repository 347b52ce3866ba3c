/// The counts of a store's search cache. The cache has parts of the value index in memory, so that
/// searches are faster. All reading threads share the cache.
public struct SearchCacheCounts: Sendable, Hashable {
  /// The number of fields for which the cache has the values of all records.
  public var columns = 0
  /// The number of values for which the cache has a list of the records with that value.
  public var lists = 0
  /// The cache's memory in bytes; `searchCacheBytes` of the store's configuration is the limit.
  public var size = 0
  /// The number of entries made since the store was opened. Requests that failed count too: the
  /// entry was too large, or could not be read.
  public var made = 0
  /// The number of entries removed since the store was opened: the memory was full, or too many
  /// records had changed.
  public var givenUp = 0

  /// Creates counts, by default those of an empty cache.
  package init(columns: Int = 0, lists: Int = 0, size: Int = 0, made: Int = 0, givenUp: Int = 0) {
    self.columns = columns
    self.lists = lists
    self.size = size
    self.made = made
    self.givenUp = givenUp
  }
}
