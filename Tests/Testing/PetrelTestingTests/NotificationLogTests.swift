import CloudKit
import Foundation
import PetrelTesting
import Testing

struct NotificationLogTests {
  @available(*, deprecated)
  @Test("it is trimmed as the clock goes on, and an older token expires")
  func retention() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone")
    try await phone.privateCloudDatabase.save(CloudTests.subscription)
    let empty = try await Self.fetch(from: phone)
    try await phone.privateCloudDatabase.save(CKRecord(recordType: "Note"))
    await cloud.settle()
    await cloud.clock.advance(by: .seconds(29 * 86_400))
    let whole = try await Self.fetch(from: phone, since: empty.token)
    #expect(whole.types == [.query])
    await cloud.clock.advance(by: .seconds(2 * 86_400))
    let error = try await #require(throws: CKError.self) {
      try await Self.fetch(from: phone, since: empty.token)
    }
    #expect(error.code == .changeTokenExpired)
    #expect(try await Self.fetch(from: phone, since: whole.token).types == [])
    #expect(try await Self.fetch(from: phone).types == [])
  }

  @available(*, deprecated)
  @Test("what is marked on one device is read on the other, and faults strike by name")
  func marks() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone")
    let tablet = cloud.container(user: "anna", device: "ipad")
    try await tablet.privateCloudDatabase.save(CloudTests.subscription)
    try await phone.privateCloudDatabase.save(CKRecord(recordType: "Note"))
    let push = try #require(await cloud.pushes(to: "anna", device: "ipad").first?.notification)
    let id = try #require(push.notificationID)
    let before = try await Self.fetch(from: phone)
    cloud.fail(next: .networkLoss, user: "anna", operation: .markNotificationsRead)
    for (marked, code) in [([], CKError.Code.networkUnavailable), ([id], nil)] {
      let operation = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [id])
      let outcome: ([CKNotification.ID]?, (any Error)?) = await withCheckedContinuation {
        continuation in
        operation.markNotificationsReadCompletionBlock = {
          continuation.resume(returning: ($0, $1))
        }
        tablet.add(operation)
      }
      #expect(outcome.0 == marked)
      #expect((outcome.1 as? CKError)?.code == code)
    }
    #expect(cloud.waitingFaults == 0)
    #expect(try await Self.fetch(from: phone, since: before.token).types == [.readNotification])
  }

  @available(*, deprecated)
  @Test("a badge counts on from what was set; a fault for any operation strikes its setting")
  func badge() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
    let tablet = cloud.container(user: "anna", device: "ipad")
    let subscription = CloudTests.subscription
    subscription.notificationInfo = CKSubscription.NotificationInfo(shouldBadge: true)
    try await tablet.privateCloudDatabase.save(subscription)
    cloud.fail(next: .authenticationExpired)
    for code in [CKError.Code.notAuthenticated, nil] {
      let operation = CKModifyBadgeOperation(badgeValue: 6)
      let error = await withCheckedContinuation { continuation in
        operation.modifyBadgeCompletionBlock = { continuation.resume(returning: $0) }
        tablet.add(operation)
      }
      #expect((error as? CKError)?.code == code)
    }
    try await phone.save(CKRecord(recordType: "Note"))
    let pushes = await cloud.pushes(to: "anna", device: "ipad")
    #expect(pushes.map { $0.notification?.badge } == [7])
  }

  @available(*, deprecated)
  private static func fetch(
    from container: CKContainer, since token: CKServerChangeToken? = nil
  ) async throws -> (types: [CKNotification.NotificationType], token: CKServerChangeToken?) {
    let operation = CKFetchNotificationChangesOperation(previousServerChangeToken: token)
    let seen = Seen()
    operation.notificationChangedBlock = { seen.types.append($0.notificationType) }
    return try await withCheckedThrowingContinuation { continuation in
      operation.fetchNotificationChangesCompletionBlock = { token, error in
        continuation.resume(with: error.map { .failure($0) } ?? .success((seen.types, token)))
      }
      container.add(operation)
    }
  }

  /// The blocks of an operation run one after the other, so nothing here is used by two at once.
  private final class Seen: @unchecked Sendable {
    var types: [CKNotification.NotificationType] = []
  }
}
