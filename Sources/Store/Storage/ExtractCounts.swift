/// What a store keeps of its value index in memory for searches, and what became of what it kept.
public struct ExtractCounts: Sendable, Hashable {
  /// Fields of which it has the keys of all records.
  public var columns = 0
  /// Keys of which it has the records.
  public var lists = 0
  /// Memory for these, in bytes; ``StoreConfiguration/Tuning/extractBytes`` is the limit.
  public var size = 0
  /// How many were asked for and made since the store was opened, those among them for which there was
  /// no room.
  public var made = 0
  /// How many were given up: others took their room, or more was changed than is worth following.
  public var givenUp = 0
}
