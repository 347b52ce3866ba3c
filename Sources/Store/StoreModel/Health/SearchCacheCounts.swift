/// The part of the value index that a store caches in memory for searches, with counts of its
/// turnover. The readers share the cache.
public struct SearchCacheCounts: Sendable, Hashable {
  /// Fields whose keys of all records are cached.
  public var columns = 0
  /// Keys whose records are cached.
  public var lists = 0
  /// The cache's memory in bytes; `searchCacheBytes` of the store's configuration is the limit.
  public var size = 0
  /// Entries requested and made since the store was opened, including those that did not fit.
  public var made = 0
  /// Entries dropped: others replaced them, or too much was changed to keep them current.
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
