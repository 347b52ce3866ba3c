/// What a schema knows of subscriptions. A fixed environment accepts the types that were deployed to it.
public enum SubscriptionType: Sendable, Hashable {
  /// What query subscriptions have in common: record type, events and the fields that are asked for.
  public struct Query: Sendable, Hashable {
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
  }

  case query(Query)
  /// That of all subscriptions to a zone.
  case recordZone
  /// That of all subscriptions to a database.
  case database

  public init(of subscription: Subscription) {
    switch subscription.kind {
    case .recordZone: self = .recordZone
    case .database: self = .database
    case .query(let query, _, let options):
      let fields = query.filters.map { filter in
        switch filter.key {
        case .field(let name): name
        case .system(let field): field.schemaName
        case .allText: Query.allText
        }
      }
      self = .query(Query(recordType: query.recordType, events: options, fields: fields))
    }
  }
}

extension SubscriptionType: CustomStringConvertible {
  /// Such as `create, update of Note by title`.
  public var description: String {
    switch self {
    case .query(let query): query.description
    case .recordZone: "all changes of a zone"
    case .database: "all changes of a database"
    }
  }
}

extension SubscriptionType.Query: CustomStringConvertible {
  public var description: String {
    var words: [String] = []
    if events.contains(.firesOnRecordCreation) { words.append("create") }
    if events.contains(.firesOnRecordUpdate) { words.append("update") }
    if events.contains(.firesOnRecordDeletion) { words.append("delete") }
    let conditions = fields.isEmpty ? "" : " by \(fields.joined(separator: ", "))"
    return "\(words.joined(separator: ", ")) of \(recordType)\(conditions)"
  }
}
