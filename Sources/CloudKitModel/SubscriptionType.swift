/// What query subscriptions have in common that a schema knows of: record type, events and the
/// fields that are asked for. A fixed environment accepts the types that were deployed to it.
public struct SubscriptionType: Sendable, Hashable {
  public var recordType: String
  /// Which events it fires on; nothing else of the options.
  public var events: Subscription.Options
  /// The names of the filters' fields in the schema language, in order and each once;
  /// ``allText`` for a search in all text.
  public var fields: [String]

  /// Stands for `self CONTAINS 'words'`.
  public static let allText = "*"

  public init(recordType: String, events: Subscription.Options, fields: some Sequence<String>) {
    self.recordType = recordType
    self.events = events.intersection(.events)
    self.fields = Set(fields).sorted()
  }

  /// The type of a query subscription; nil for subscriptions to zones and databases, which have
  /// none.
  public init?(of subscription: Subscription) {
    guard case .query(let query, _, let options) = subscription.kind else { return nil }
    self.init(
      recordType: query.recordType, events: options,
      fields: query.filters.map { filter in
        switch filter.key {
        case .field(let name): name
        case .system(let field): field.schemaName
        case .allText: Self.allText
        }
      })
  }
}

extension SubscriptionType: CustomStringConvertible {
  /// Such as `create, update of Note by title`.
  public var description: String {
    var words: [String] = []
    if events.contains(.firesOnRecordCreation) { words.append("create") }
    if events.contains(.firesOnRecordUpdate) { words.append("update") }
    if events.contains(.firesOnRecordDeletion) { words.append("delete") }
    let conditions = fields.isEmpty ? "" : " by \(fields.joined(separator: ", "))"
    return "\(words.joined(separator: ", ")) of \(recordType)\(conditions)"
  }
}
