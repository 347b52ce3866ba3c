import CloudKitModel
import Foundation
import Storage
import Testing

@testable import ChangeDispatch

@Suite("Scheduling deliveries")
struct DeliveryScheduleTests {
  @Test("a delivery that is under way is not sent a second time")
  func leavesOutWhatIsUnderWay() {
    var schedule = DeliverySchedule(capacity: 10)
    #expect(Self.numbers(schedule.admit(Self.deliveries(1...3))) == [1, 2, 3])
    #expect(Self.numbers(schedule.admit(Self.deliveries(2...5))) == [4, 5])
    schedule.finish(Self.deliveries(2...2).map(\.id))
    #expect(Self.numbers(schedule.admit(Self.deliveries(1...5))) == [2])
  }

  @Test("what finds no room stays in the store until half of the room is free")
  func loadsWhenThereIsRoom() {
    var schedule = DeliverySchedule(capacity: 4)
    #expect(schedule.beginLoading() == 4)
    #expect(Self.numbers(schedule.admit(Self.deliveries(1...6))) == [1, 2, 3, 4])
    #expect(schedule.isBehind)
    #expect(!schedule.needsLoading)
    schedule.finish(Self.deliveries(1...2).map(\.id))
    #expect(schedule.needsLoading)
  }

  @Test("what was finished while the store was asked is not sent a second time")
  func leavesOutWhatWasFinishedMeanwhile() {
    var schedule = DeliverySchedule(capacity: 10)
    _ = schedule.admit(Self.deliveries(1...2))
    _ = schedule.beginLoading()
    schedule.finish(Self.deliveries(1...1).map(\.id))
    #expect(Self.numbers(schedule.admit(loaded: Self.deliveries(1...3))) == [3])
    // A later answer of the store knows of its outcome: it is owed again.
    _ = schedule.beginLoading()
    #expect(Self.numbers(schedule.admit(loaded: Self.deliveries(1...1))) == [1])
  }

  @Test("what the store gave first and was finished is not sent again when it comes in memory")
  func leavesOutWhatTheStoreGave() {
    var schedule = DeliverySchedule(capacity: 10)
    _ = schedule.beginLoading()
    #expect(Self.numbers(schedule.admit(loaded: Self.deliveries(1...2))) == [1, 2])
    schedule.finish(Self.deliveries(1...2).map(\.id))
    _ = schedule.beginLoading()
    #expect(schedule.admit(loaded: []).isEmpty)
    #expect(Self.numbers(schedule.admit(Self.deliveries(1...3))) == [3])
  }

  @Test("the store is asked at the start, and then not without need")
  func loadsAtStart() {
    var schedule = DeliverySchedule(capacity: 4)
    #expect(schedule.needsLoading)
    _ = schedule.beginLoading()
    #expect(!schedule.needsLoading)
    schedule.fallBehind()
    #expect(schedule.needsLoading)
  }

  @Test("delays grow from 50 ms to 5 s and begin anew after a success")
  func retryDelays() {
    var delay = RetryDelay()
    let delays = (0..<10).map { _ in delay.fail() }
    #expect(delays.first == 0.05)
    #expect(delays.last == 5)
    #expect(delays == delays.sorted())
    delay.succeed()
    #expect(delay.fail() == 0.05)
  }

  private static func deliveries(_ numbers: ClosedRange<Int64>) -> [Delivery] {
    let database = DatabaseAddress(
      container: "iCloud.test", environment: .development, scope: .public, owner: nil)
    let moment = Timestamp(milliseconds: 0)
    return numbers.map { number in
      Delivery(
        id: Delivery.ID(database: DatabaseID(rawValue: 1), number: number),
        notification: SubscriptionNotification(
          database: database, subscriber: "_a",
          subscription: Subscription(subscriptionID: "s", kind: .database(recordType: nil)),
          change: Change(
            event: .zoneCreated, zoneID: ZoneID(zoneName: "Notes"), record: nil,
            notificationID: UUID(), timestamp: moment)),
        device: DeviceToken(
          kind: .apns, token: "aa", container: "iCloud.test", environment: .development,
          apnsEnvironment: .development, userRecordName: "_a", deviceID: nil, registered: moment),
        badge: nil, logged: moment, due: moment)
    }
  }

  private static func numbers(_ deliveries: [Delivery]) -> [Int64] {
    deliveries.map(\.id.number)
  }
}
