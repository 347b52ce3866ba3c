import CloudKitModel
import Foundation
import OutboundHTTP
import PushChannels
import Testing

enum Fixture {
  static let user = "_0123456789abcdef0123456789abcdef"

  static func notification(
    alert: String? = "New artwork", collapseID: String? = nil,
    fields: RecordFields<RecordValue> = [:],
    subscriptionID: String = "new-art", change: (inout NotificationInfo) -> Void = { _ in }
  ) -> SubscriptionNotification {
    var info = NotificationInfo()
    info.alertBody = alert
    info.shouldSendContentAvailable = alert == nil
    info.collapseIDKey = collapseID
    change(&info)
    return SubscriptionNotification(
      database: DatabaseAddress(
        container: "iCloud.com.example.app", environment: .development, scope: .public,
        owner: nil),
      subscriber: user,
      subscription: Subscription(
        subscriptionID: subscriptionID,
        kind: .query(Query(recordType: "Art"), zoneID: nil, options: [.firesOnRecordCreation]),
        notificationInfo: info),
      change: Change(
        event: .recordCreated, zoneID: .default,
        record: Record(
          recordID: RecordID(recordName: "ART-1"), recordType: "Art", fields: fields),
        notificationID: UUID(uuidString: "0B6C2F0E-51D4-4B61-9C1E-3D1F2A5B7C90")!,
        timestamp: Timestamp(milliseconds: 1_767_225_600_000)))
  }

  static var loopback: AddressRules {
    AddressRules(allowed: ["127.0.0.0/8"].compactMap(IPNetwork.init))
  }

  static func url(_ text: String) throws -> OutboundURL {
    try OutboundURL(text, allowsHTTP: true, rules: loopback)
  }

  /// Runs `body` with a client for this machine, and a folder.
  static func withClient(
    authorityFile: String? = nil, time: Double = 30, rules: AddressRules = loopback,
    _ body: (HTTPClient) async throws -> Void
  ) async throws {
    var configuration = HTTPClient.Configuration()
    configuration.rules = rules
    configuration.time = time
    configuration.allowsHTTP = true
    configuration.authorityFile = authorityFile
    let client = try HTTPClient(configuration)
    do {
      try await body(client)
    } catch {
      await client.close()
      throw error
    }
    await client.close()
  }
}
