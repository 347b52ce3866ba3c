internal import JSONCoding
internal import WebServices

extension CKNotification {
  /// The notification that an entry of the notification log holds.
  static func logged(_ item: NotificationLogItem) -> CKNotification? {
    if item.isRead {
      guard case .object(let ck)? = item.payload["ck"], let id = ck["nid"]?.string else {
        return nil
      }
      return readNotification(
        id: CKNotificationID(id), containerIdentifier: ck["cid"]?.string)
    }
    return CKNotification(
      fromRemoteNotificationDictionary: item.payload.mapValues(\.foundationValue))
  }
}

extension JSONValue {
  /// The value as Foundation's parser would give it.
  fileprivate var foundationValue: Any {
    switch self {
    case .null: NSNull()
    case .bool(let bool): NSNumber(value: bool)
    case .int(let int): NSNumber(value: int)
    case .double(let double): NSNumber(value: double)
    case .string(let string): string
    case .array(let elements): elements.map(\.foundationValue)
    case .object(let members): members.mapValues(\.foundationValue)
    }
  }
}
