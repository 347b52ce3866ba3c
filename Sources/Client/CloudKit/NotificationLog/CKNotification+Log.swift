internal import JSONCoding
package import WebServices

extension CKNotification {
  /// Creates the notification from an entry of the notification log. The result is `nil` when the
  /// entry has no valid payload.
  package static func logged(_ item: NotificationLogItem) -> CKNotification? {
    if item.isRead {
      guard case .object(let ck)? = item.payload["ck"], let id = ck["nid"]?.string else {
        return nil
      }
      return readNotification(
        id: CKNotificationID(id), containerIdentifier: ck["cid"]?.string)
    }
    return read(userInfo(item.payload), fields: item.fields)
  }
}
