/// The type of a subscription in a container's schema. An environment with a fixed schema accepts
/// only subscriptions whose types were deployed to this environment.
public enum SubscriptionType: Sendable, Hashable {
  /// The common part of similar query subscriptions: record type, events and the fields of the
  /// filters.
  public struct Query: Sendable, Hashable {
    /// The record type of the query.
    public var recordType: String
    /// The events on which the subscription fires, without the option `firesOnce`.
    public var events: Subscription.Options
    /// The fields of the filters by their names in the schema language, sorted, each once.
    /// ``allText`` stands for a search in all string fields.
    public var fields: [String]

    /// The entry of ``fields`` that stands for `self CONTAINS 'words'`, a search in all text.
    public static let allText = "*"

    /// Creates a type. Removes the options that are no events, and sorts the fields.
    public init(recordType: String, events: Subscription.Options, fields: some Sequence<String>) {
      self.recordType = recordType
      self.events = events.intersection(.events)
      self.fields = Set(fields).sorted()
    }
  }

  /// The type of query subscriptions with this record type, these events and these fields.
  case query(Query)
  /// The type of all record-zone subscriptions.
  case recordZone
  /// The type of all database subscriptions.
  case database

  /// Creates the type of a subscription.
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
  /// The type as text, such as `create, update of Note by title`.
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
