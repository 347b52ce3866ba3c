import CloudKitModel
import JSONCoding

/// An entry of the notification log: the object that the web courier brings, `{"aps": {…},
/// "ck": {…}}`. One that was marked as read has nothing but the common part of `ck`, and
/// `"read": true` beside it.
public struct NotificationLogItem: Sendable, Hashable {
  /// The members of the payload, such as `aps` and `ck`.
  public var payload: [String: JSONValue]
  public var isRead: Bool

  /// An entry that is not read.
  public init(payload: [String: JSONValue]) {
    self.payload = payload
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

  init(_ reader: MessageReader) throws(ServiceError) {
    guard case .object(var members) = reader.json else {
      throw reader.mistake("must be an object, not \(reader.json.kind)")
    }
    isRead = try reader.optionalBool("read") ?? false
    members["read"] = nil
    payload = members
    guard payload["ck"]?.object != nil else { throw reader.mistake("'ck' must be an object") }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      for (name, member) in payload.sorted(by: { $0.key < $1.key }) {
        writer.member(name, member)
      }
      if isRead { writer.member("read", true) }
    }
  }
}
