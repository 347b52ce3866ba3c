import CloudKit

/// A user with one device and one subscription.
struct Subscriber: Sendable {
  var name: String
  var container: CKContainer
  var deviceToken: Data
  var subscription: CKQuerySubscription
  /// The subscription's predicate in Swift, which decides which pushes to expect.
  var expects: @Sendable (Earthquake) -> Bool
  /// Whether only the first match is expected.
  var expectsOnce = false

  var deviceTokenText: String { deviceToken.map { String(format: "%02x", $0) }.joined() }

  /// Registers the device for pushes and saves the subscription.
  func subscribe() async throws {
    try await container.registerForRemoteNotifications(deviceToken: deviceToken)
    try await withCheckedThrowingContinuation { continuation in
      let operation = CKModifySubscriptionsOperation(
        subscriptionsToSave: [subscription], subscriptionIDsToDelete: nil)
      operation.qualityOfService = .utility
      let failure = Failure()
      operation.perSubscriptionSaveBlock = { _, result in
        if case .failure(let error) = result { failure.error = error }
      }
      operation.modifySubscriptionsResultBlock = { result in
        continuation.resume(with: failure.error.map { .failure($0) } ?? result)
      }
      container.publicCloudDatabase.add(operation)
    }
  }

  /// The first error of an operation's items. Its blocks run one after the other.
  private final class Failure: @unchecked Sendable {
    var error: (any Error)?
  }

  /// The records whose pushes should arrive, in the order in which they are saved.
  func expectedRecords(of earthquakes: [Earthquake]) -> [String] {
    let matching = earthquakes.filter(expects).map(\.name)
    return expectsOnce ? Array(matching.prefix(1)) : matching
  }
}

extension Subscriber {
  /// Wants an alert for each strong earthquake.
  static func strong(in container: CKContainer) -> Subscriber {
    let subscription = CKQuerySubscription(
      recordType: "Earthquake", predicate: NSPredicate(format: "magnitude >= 6.0"),
      subscriptionID: "strong-earthquakes", options: .firesOnRecordCreation)
    let info = CKSubscription.NotificationInfo()
    info.title = "Strong earthquake"
    info.alertLocalizationKey = "EARTHQUAKE_%1$@_%2$@"
    info.alertLocalizationArgs = ["magnitude", "place"]
    info.soundName = "default"
    info.shouldBadge = true
    info.desiredKeys = ["magnitude", "place", "location"]
    subscription.notificationInfo = info
    return Subscriber(
      name: "Anna", container: container, deviceToken: Data(repeating: 0xA1, count: 32),
      subscription: subscription, expects: { $0.magnitude >= 6 })
  }

  /// Wants to know of earthquakes within 200 km of Suva.
  static func nearSuva(in container: CKContainer) -> Subscriber {
    let subscription = CKQuerySubscription(
      recordType: "Earthquake",
      predicate: NSPredicate(
        format: "distanceToLocation:fromLocation:(location, %@) < 200000", Earthquake.suva),
      subscriptionID: "near-suva", options: .firesOnRecordCreation)
    let info = CKSubscription.NotificationInfo()
    info.alertBody = "An earthquake near Suva"
    info.desiredKeys = ["magnitude", "depth"]
    subscription.notificationInfo = info
    return Subscriber(
      name: "Ben", container: container, deviceToken: Data(repeating: 0xB2, count: 32),
      subscription: subscription,
      expects: { $0.location.distance(from: Earthquake.suva) < 200_000 })
  }

  /// Wants to be woken, once, by the first deep earthquake.
  static func firstDeep(in container: CKContainer) -> Subscriber {
    let subscription = CKQuerySubscription(
      recordType: "Earthquake", predicate: NSPredicate(format: "tags CONTAINS 'deep'"),
      subscriptionID: "first-deep", options: [.firesOnRecordCreation, .firesOnce])
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    return Subscriber(
      name: "Chloe", container: container, deviceToken: Data(repeating: 0xC3, count: 32),
      subscription: subscription, expects: { $0.tags.contains("deep") }, expectsOnce: true)
  }
}
