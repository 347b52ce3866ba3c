/// One reading of a zone's changes to their end: from the reader's last token, or from the beginning.
public struct FeedReading: Codable, Sendable {
  public struct Entry: Codable, Hashable, Sendable {
    public var name: String
    public var sight: Sight

    public init(name: String, sight: Sight) {
      self.name = name
      self.sight = sight
    }
  }

  /// The reader. A reader knows what it has seen in its earlier readings.
  public var reader: String
  public var database: String
  public var zone: String
  public var span: Span
  /// Whether it went on from the token of the reader's last reading.
  public var continues: Bool
  public var entries: [Entry]

  public init(
    reader: String, database: String, zone: String, span: Span, continues: Bool, entries: [Entry]
  ) {
    self.reader = reader
    self.database = database
    self.zone = zone
    self.span = span
    self.continues = continues
    self.entries = entries
  }
}
