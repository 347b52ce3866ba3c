import CloudKitModel
import JSONCoding

/// An entry of the notification log: the object that the web courier brings, `{"aps": {…},
/// "ck": {…}}`, with the values of desired keys as `fields` beside it, typed as those of records, instead of as `af` within
/// it. One that was marked as read has nothing but the common part of `ck`, and `"read": true` beside it.
public struct NotificationLogItem: Sendable, Hashable {
  /// The members of the payload, such as `aps` and `ck`.
  public var payload: [String: JSONValue]
  /// The values of the subscription's desired keys.
  public var fields: RecordFields<RecordValue> = [:]
  public var isRead: Bool

  /// An entry that is not read.
  public init(payload: [String: JSONValue], fields: RecordFields<RecordValue> = [:]) {
    self.payload = payload
    self.fields = fields
    isRead = false
  }

  /// An entry that was marked as read.
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

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    JSONSchema(
      [
        "type": "object", "required": ["ck"],
        "description": "The payload of a push, with the values of desired keys beside it.",
        "properties": [
          "aps": ["type": "object"], "ck": ["type": "object", "required": ["ce", "cid", "nid"]],
          "fields": JSONSchema.map(RecordValue.schema(in: scope)).json, "read": ["const": true],
        ],
      ], [RecordValue.schema(in: scope)]
    ).named("LogEntry")
  }
}
