import CloudKit
import CloudKitModel
import JSONCoding
import PropertyTesting
import PushChannels
import Testing
import WebServices

struct PushPayloadReadingTests {
  enum Parser {
    case client
    /// As on Apple's systems, which hand the payload over parsed.
    case foundation

    func userInfo(_ payload: PushPayload) throws -> [AnyHashable: Any] {
      let json = Data(payload.bytes)
      switch self {
      case .client: return try #require(CKNotification.userInfo(parsing: json))
      case .foundation:
        let object = try JSONSerialization.jsonObject(with: json)
        return try #require(object as? [String: Any])
      }
    }
  }

  @available(*, deprecated)
  @Test(
    "is what the notification says, but for what was pruned",
    arguments: PushPayload.Reader.allCases.map { ($0, Parser.client) } + [(.apns, .foundation)])
  func readsBack(reader: PushPayload.Reader, parser: Parser) throws {
    var counts = (whole: 0, pruned: 0)
    for seed in Seeds.some(1_500) {
      var random = RandomNotification(seed: seed)
      let notification = random.next()
      let badge =
        random.generator.chance(1, in: 4)
        ? nil : Int.random(in: 0...ServiceLimits.badge, using: &random.generator)
      let payload = PushPayload(notification, badge: badge, reader: reader)
      let read = try #require(
        reader == .log
          ? try Self.logged(payload, of: notification)
          : CKNotification(fromRemoteNotificationDictionary: try parser.userInfo(payload)),
        "seed \(seed)")
      ExpectedNotification(
        notification: notification, badge: badge, reader: reader,
        pruned: Set(payload.prunedParts.map(\.description)),
        readsDoublesExactly: parser == .client
      ).verify(read, isPruned: payload.isPruned, "seed \(seed)")
      if payload.isPruned { counts.pruned += 1 } else { counts.whole += 1 }
    }
    #expect(counts.whole > 100)
    // The others have no limit. They lack what no payload can carry, which is rare.
    if [.apns, .webPush].contains(reader) { #expect(counts.pruned > 0) }
  }

  /// Returns the payload as a client reads it, as an entry of the notification log.
  private static func logged(
    _ payload: PushPayload, of notification: SubscriptionNotification
  ) throws -> CKNotification? {
    let item = NotificationLogItem(
      payload: try #require(try JSONValue(parsing: payload.text).object),
      fields: notification.loggedValues)
    let owner = notification.database.owner ?? notification.subscriber
    let page = NotificationChangesResponse(
      notifications: [item], syncToken: "token", moreComing: false
    ).body(context: MessageContext(ownerNaming: .relative(to: owner)))
    return try NotificationChangesResponse(parsing: page).notifications.first
      .flatMap { CKNotification.logged($0) }
  }
}
