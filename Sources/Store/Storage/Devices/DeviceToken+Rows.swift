import CloudKitModel
import SQLEngine
import StoreModel

extension DeviceToken {
  static let columns = """
    device_tokens.kind, device_tokens.token, device_tokens.container, \
    device_tokens.environment, device_tokens.apns_environment, device_tokens.user_record_name, \
    device_tokens.device_id, device_tokens.registered, device_tokens.expires, \
    device_tokens.endpoint_url, device_tokens.endpoint_secrets, device_tokens.sign_in, \
    device_tokens.bundle_id, device_tokens.refused, device_tokens.refused_topic
    """
  static let columnCount: Int32 = 15

  /// Reads a row that begins with ``columns``.
  init(row: any SQLRow) throws {
    guard let kind = Kind(rawValue: row.text(0)),
      let environment = ContainerEnvironment(rawValue: row.text(3)),
      let apnsEnvironment = APNsEnvironment(rawValue: row.text(4))
    else { throw StoreError(.corrupt, "the device token '\(row.text(1))' has unknown attributes") }
    self.init(
      kind: kind, token: row.text(1), container: row.text(2), environment: environment,
      apnsEnvironment: apnsEnvironment, bundleID: row.optionalText(12),
      userRecordName: row.text(5),
      deviceID: row.optionalText(6), signIn: row.isNull(11) ? nil : row.bytes(11),
      registered: row.time(7),
      expires: row.optionalTime(8),
      endpoint: row.optionalText(9).map { WebEndpoint(url: $0, secrets: row.bytes(10)) },
      refusal: row.optionalInteger(13).map {
        Refusal(since: Timestamp(milliseconds: $0), topic: row.optionalText(14))
      })
  }

  /// Whether this device made the change; false for a device without a client ID. A device gets no
  /// push for its own change.
  func isOrigin(of change: Change) -> Bool {
    deviceID != nil && deviceID == change.deviceID && userRecordName == change.userRecordName
  }
}

extension DeviceName {
  var arguments: [SQLValue] {
    [.text(kind.rawValue), .text(token), .text(container), .text(environment.rawValue)]
  }

  /// The row of `device_tokens` with this name; the parameters are from `$1` on.
  static let condition = "kind = $1 AND token = $2 AND container = $3 AND environment = $4"
}
