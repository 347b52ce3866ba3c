/// What a store keeps of its value index in memory for searches, and what became of what it kept.
public struct SearchCacheCounts: Sendable, Hashable {
  /// Fields of which it has the keys of all records.
  public var columns = 0
  /// Keys of which it has the records.
  public var lists = 0
  /// Memory for these, in bytes; `searchCacheBytes` of the store's configuration is the limit.
  public var size = 0
  /// How many were asked for and made since the store was opened, those among them for which there was
  /// no room.
  public var made = 0
  /// How many were given up: others took their room, or more was changed than is worth following.
  public var givenUp = 0

  package init(columns: Int = 0, lists: Int = 0, size: Int = 0, made: Int = 0, givenUp: Int = 0) {
    self.columns = columns
    self.lists = lists
    self.size = size
    self.made = made
    self.givenUp = givenUp
  }
}
