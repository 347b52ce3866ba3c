import CloudKitModel
import JSONCoding

/// An entry of the notification log. It is the object that the web courier (the service that
/// clients poll for notifications) delivers, with small differences:
///
/// - The values of the desired keys are in `fields`, beside `ck`, and have types as in records. In
///   a courier message these values are in `af`, inside of `ck`.
/// - An entry that is marked as read has `"read": true`, and in `ck` only the environment, the
///   container and the notification ID.
///
/// ```
/// { "aps": { … }, "ck": { "ce": 2, "cid": "iCloud.com.example.app", "nid": "…", … },
///   "fields": { "title": { "value": "Milk", "type": "STRING" } } }
/// ```
public struct NotificationLogItem: Sendable, Hashable {
  /// The members of the payload, such as `aps` and `ck`, without `fields` and `read`.
  public var payload: [String: JSONValue]
  /// The values of the subscription's desired keys.
  public var fields: RecordFields<RecordValue> = [:]
  /// Whether the caller has marked the entry as read.
  public var isRead: Bool

  /// Creates an entry that is not read.
  public init(payload: [String: JSONValue], fields: RecordFields<RecordValue> = [:]) {
    self.payload = payload
    self.fields = fields
    isRead = false
  }

  /// Creates an entry that is marked as read. It contains only the environment, the container and
  /// the notification ID.
  public init(
    readNotificationID notificationID: String, container: String,
    environment: ContainerEnvironment
  ) {
    payload = [
      "ck": [
        "ce": .int(Int64(environment.payloadNumber)), "cid": .string(container),
        "nid": .string(notificationID), "aux": [:],
      ]
    ]
    isRead = true
  }

}

extension NotificationLogItem: MessagePart {
  /// Reads an entry.
  ///
  /// The payload of a query notification contains the scope of the database (`dbs`). In a shared
  /// database, owner names stay as they are. Otherwise each owner becomes the "current owner"
  /// (`ZoneID.currentOwnerName`).
  package init(_ reader: MessageReader) throws(ServiceError) {
    guard case .object(var members) = reader.json else {
      throw reader.mistake("must be an object, not \(reader.json.kind)")
    }
    isRead = try reader.optionalBool("read") ?? false
    members["read"] = nil
    members["fields"] = nil
    payload = members
    guard let ck = payload["ck"]?.object else { throw reader.mistake("'ck' must be an object") }
    let scope = (ck["qry"]?["dbs"]?.int).flatMap { DatabaseScope(payloadNumber: Int($0)) }
    let context = MessageContext(ownerNaming: scope == .shared ? .explicit : .implied)
    fields = try FieldReading.fields(of: MessageReader(reader.node, context: context)).values
      .compactMapValues { $0 }
  }

  /// Writes the members of the payload in alphabetical order, then `fields` and `read` where the
  /// entry has them.
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      for (name, member) in payload.sorted(by: { $0.key < $1.key }) {
        writer.member(name, member)
      }
      if !fields.isEmpty {
        writer.key("fields")
        writer.object { writer in
          for (name, value) in fields {
            writer.key(name)
            value.write(to: &writer, context: context)
          }
        }
      }
      if isRead { writer.member("read", true) }
    }
  }

  /// The schema of an entry. The schema does not describe the members of `aps`, and requires only
  /// `ce`, `cid` and `nid` in `ck`.
  package static func schema(in scope: SchemaScope) -> JSONSchema {
    JSONSchema(
      [
        "type": "object", "required": ["ck"],
        "description": "The payload of a push, and the values of the desired keys.",
        "properties": [
          "aps": ["type": "object"], "ck": ["type": "object", "required": ["ce", "cid", "nid"]],
          "fields": JSONSchema.map(RecordValue.schema(in: scope)).json, "read": ["const": true],
        ],
      ], [RecordValue.schema(in: scope)]
    ).named("LogEntry")
  }
}
