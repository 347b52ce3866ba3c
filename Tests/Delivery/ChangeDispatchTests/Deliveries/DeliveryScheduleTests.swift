import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import ChangeDispatch

struct DeliveryScheduleTests {
  private static let now = Timestamp(milliseconds: 1_000)

  @Test("a delivery that is under way is not sent a second time")
  func leavesOutWhatIsUnderWay() {
    var schedule = Self.schedule(capacity: 10)
    #expect(Self.numbers(schedule.admit(Self.deliveries(1...3)).admitted) == [1, 2, 3])
    #expect(Self.numbers(schedule.admit(Self.deliveries(2...5)).admitted) == [4, 5])
    schedule.finish(Self.deliveries(2...2)[0])
    #expect(Self.numbers(schedule.admit(Self.deliveries(1...5)).admitted) == [2])
  }

  @Test("what finds no room is given back, and there is room again when some are done")
  func givesBack() {
    var schedule = Self.schedule(capacity: 4)
    let answer = schedule.admit(Self.deliveries(1...6))
    #expect(Self.numbers(answer.admitted) == [1, 2, 3, 4])
    #expect(Self.numbers(answer.refused) == [5, 6])
    #expect(schedule.free == 0)
    #expect(schedule.admit(answer.refused).refused.isEmpty, "on their way back to the store")
    for delivery in answer.refused { schedule.finish(delivery) }
    #expect(schedule.free == 0)
    schedule.finish(Self.deliveries(1...1)[0])
    #expect(schedule.free == 1)
  }

  @Test("the store is asked again when half of the room is free")
  func takesWhenThereIsRoom() {
    var schedule = DeliverySchedule(capacity: 4)
    #expect(schedule.beginTaking(at: Self.now) == 4)
    #expect(schedule.beginTaking(at: Self.now) == nil, "one question at a time")
    let taken = TakenDeliveries(deliveries: Self.deliveries(1...4), isAll: false)
    #expect(Self.numbers(schedule.admit(taken)) == [1, 2, 3, 4])
    #expect(!schedule.needsTaking)
    schedule.finish(Self.deliveries(1...1)[0])
    #expect(schedule.beginTaking(at: Self.now) == nil)
    schedule.finish(Self.deliveries(2...2)[0])
    #expect(schedule.needsTaking)
    #expect(schedule.beginTaking(at: Self.now) == 2)
  }

  @Test("nothing new overtakes what waits in the store")
  func newOnesQueue() {
    var schedule = Self.schedule(capacity: 4)
    #expect(schedule.free == 4)
    schedule.fallBehind()
    #expect(schedule.free == 0)
    #expect(schedule.beginTaking(at: Self.now) == 4)
    #expect(schedule.free == 0, "what is being taken goes first")
    let taken = TakenDeliveries(deliveries: Self.deliveries(1...1), isAll: true)
    #expect(Self.numbers(schedule.admit(taken)) == [1])
    #expect(schedule.free == 3)
  }

  @Test("what was finished while the store was asked is not sent a second time")
  func leavesOutWhatWasFinishedMeanwhile() {
    var schedule = Self.schedule(capacity: 10)
    _ = schedule.admit(Self.deliveries(1...2))
    schedule.fallBehind()
    _ = schedule.beginTaking(at: Self.now)
    schedule.finish(Self.deliveries(1...1)[0])
    let deliveries = Self.deliveries(1...3)
    let taken = TakenDeliveries(deliveries: deliveries, renewed: [deliveries[0].id])
    #expect(Self.numbers(schedule.admit(taken)) == [3])
  }

  @Test("what waited in the store goes on as soon as its last outcome is known to be there")
  func takenEarly() {
    var schedule = Self.schedule(capacity: 10)
    let deliveries = Self.deliveries(1...2)
    _ = schedule.admit(deliveries)
    schedule.fallBehind()
    _ = schedule.beginTaking(at: Self.now)
    // Known while the store is asked, and after its answer.
    #expect(schedule.finish(deliveries[0]) == nil)
    #expect(Self.numbers(schedule.admit(TakenDeliveries(deliveries: deliveries))) == [1])
    #expect(schedule.finish(deliveries[1]) == deliveries[1])
    #expect(schedule.underWay == Set(deliveries.map(\.id)))
    for delivery in deliveries { #expect(schedule.finish(delivery) == nil) }
    #expect(schedule.underWay.isEmpty)
  }

  @Test("the store is asked when what was put off is due, however the news of it came")
  func wakes() {
    let due = Timestamp(milliseconds: 5_000)
    // After the store was asked when the next one is due.
    var schedule = Self.schedule(capacity: 4)
    #expect(schedule.nextWake == nil)
    schedule.wait(until: due)
    #expect(schedule.nextWake == due)
    #expect(schedule.beginTaking(at: Timestamp(milliseconds: 4_999)) == nil)
    #expect(schedule.beginTaking(at: due) == 4)
    // While it is asked for deliveries, and while it is asked for that time.
    schedule.wait(until: due)
    _ = schedule.admit(TakenDeliveries())
    #expect(schedule.needsTaking)
    _ = schedule.beginTaking(at: due)
    _ = schedule.admit(TakenDeliveries())
    #expect(schedule.wantsNextDue)
    schedule.wait(until: Timestamp(milliseconds: 7_000))
    schedule.setNextDue(Timestamp(milliseconds: 9_000))
    #expect(schedule.nextWake == Timestamp(milliseconds: 7_000))
  }

  @Test("a route that rests sends nothing; then one delivery tries it before the others follow")
  func probes() {
    var schedule = Self.schedule(capacity: 4)
    _ = schedule.admit(Self.deliveries(1...2))
    let end = Timestamp(milliseconds: 2_000)
    #expect(schedule.pause(until: end, for: .silence) == true)
    #expect(schedule.pause(until: end, for: .silence) == false, "what was under way fails too")
    schedule.finish(Self.deliveries(1...1)[0])
    #expect(schedule.free == 0 && schedule.isPaused && schedule.nextWake == end)
    #expect(Self.numbers(schedule.admit(Self.deliveries(3...3)).refused) == [3])
    schedule.finish(Self.deliveries(3...3)[0])
    #expect(schedule.beginTaking(at: Self.now) == nil)
    // Not before the last of the others is back.
    #expect(schedule.beginTaking(at: end) == nil)
    schedule.finish(Self.deliveries(2...2)[0])
    #expect(schedule.beginTaking(at: end) == 1)
    let one = TakenDeliveries(deliveries: Self.deliveries(1...1), isAll: false)
    #expect(Self.numbers(schedule.admit(one)) == [1])
    #expect(schedule.beginTaking(at: end) == nil)
    #expect(schedule.remainUnanswered(wasSent: true) == true, "one without an answer is enough")
    let later = Timestamp(milliseconds: 9_000)
    #expect(schedule.pause(until: later, for: .silence) == true)
    #expect(schedule.pauses(for: .silence) == 2 && schedule.pauses(for: .refusal) == 0)
    schedule.finish(Self.deliveries(1...1)[0])
    #expect(schedule.beginTaking(at: later) == 1)
    _ = schedule.admit(one)
    #expect(schedule.succeed() && schedule.pauses(for: .silence) == 0)
    #expect(schedule.succeed() == false)
    schedule.finish(Self.deliveries(1...1)[0])
    #expect(schedule.beginTaking(at: later) == 4)
  }

  @Test("an answer ends the count of rests without one, and is counted by itself until a success")
  func countsRestsByCause() {
    var schedule = Self.schedule(capacity: 4)
    func counts() -> [Int] { [.silence, .refusal].map { schedule.pauses(for: $0) } }
    func rest(_ cause: DeliverySchedule.PauseCause) {
      _ = schedule.pause(until: Self.now, for: cause)
      #expect(schedule.beginTaking(at: Self.now) == 1)
      let one = TakenDeliveries(deliveries: Self.deliveries(1...1), isAll: false)
      _ = schedule.admit(one)
      schedule.finish(one.deliveries[0])
    }
    rest(.silence)
    rest(.silence)
    #expect(counts() == [2, 0])
    rest(.refusal)
    #expect(counts() == [0, 1])
    rest(.silence)
    rest(.refusal)
    #expect(counts() == [0, 2])
    #expect(schedule.succeed() == true)
    #expect(counts() == [0, 0])
  }

  @Test("of two pauses the longer one counts, whichever comes first", arguments: [true, false])
  func longerPause(isLongerFirst: Bool) {
    var schedule = Self.schedule(capacity: 4)
    _ = schedule.admit(Self.deliveries(1...2))
    let ends = [60.0, 10].map { Self.now.advanced(bySeconds: $0) }
    for end in isLongerFirst ? ends : ends.reversed() {
      _ = schedule.pause(until: end, for: .refusal)
    }
    #expect(schedule.nextWake == ends[0])
    #expect(schedule.pauses(for: .refusal) == 1)
    for delivery in Self.deliveries(1...2) { schedule.finish(delivery) }
    #expect(schedule.beginTaking(at: ends[1]) == nil)
    #expect(schedule.beginTaking(at: ends[0]) == 1)
  }

  @Test("a success that comes late does not end a rest")
  func lateSuccess() {
    var schedule = Self.schedule(capacity: 4)
    _ = schedule.admit(Self.deliveries(1...2))
    _ = schedule.pause(until: Self.now.advanced(bySeconds: 60), for: .refusal)
    #expect(schedule.succeed() == false)
    #expect(schedule.isPaused && schedule.pauses(for: .refusal) == 1)
  }

  @Test("a rest ends when the clock is set back, for it would last for so much longer")
  func clockSetBack() {
    var schedule = Self.schedule(capacity: 4)
    #expect(schedule.beginTaking(at: Self.now) == nil)
    _ = schedule.pause(until: Self.now.advanced(bySeconds: 60), for: .refusal)
    #expect(schedule.beginTaking(at: Self.now.advanced(bySeconds: 1)) == nil)
    // A correction of less than a second is none.
    #expect(schedule.beginTaking(at: Self.now.advanced(bySeconds: 0.5)) == nil)
    #expect(schedule.beginTaking(at: Self.now.advanced(bySeconds: -86_400)) == 1)
    _ = schedule.admit(TakenDeliveries(deliveries: Self.deliveries(1...1), isAll: false))
    // The next one lasts by the time that is now.
    _ = schedule.pause(until: Self.now.advanced(bySeconds: -86_340), for: .refusal)
    schedule.finish(Self.deliveries(1...1)[0])
    #expect(schedule.beginTaking(at: Self.now.advanced(bySeconds: -86_350)) == nil)
    #expect(schedule.beginTaking(at: Self.now.advanced(bySeconds: -86_340)) == 1)
  }

  @Test("a route that has nothing to try is open again, and rests no longer than at first")
  func opensWithoutProbe() {
    var schedule = Self.schedule(capacity: 4)
    _ = schedule.pause(until: Self.now, for: .refusal)
    #expect(schedule.beginTaking(at: Self.now) == 1)
    _ = schedule.admit(TakenDeliveries())
    schedule.setNextDue(nil)
    #expect(schedule.free == 4 && !schedule.isPaused)
    #expect(schedule.succeed() == true)
    #expect(schedule.pauses(for: .refusal) == 0)
  }

  @Test("some attempts in a row without an answer, and no fewer, mean that the route does not work")
  func unanswered() {
    var schedule = Self.schedule(capacity: 4)
    for _ in 1..<DeliverySchedule.greatestUnanswered {
      #expect(schedule.remainUnanswered(wasSent: true) == false)
    }
    _ = schedule.succeed()
    for _ in 1..<DeliverySchedule.greatestUnanswered {
      #expect(schedule.remainUnanswered(wasSent: true) == false)
    }
    #expect(schedule.remainUnanswered(wasSent: true) == true)
  }

  @Test("three attempts that were never sent mean that the route does not work")
  func unsent() {
    var schedule = Self.schedule(capacity: 4)
    #expect(schedule.remainUnanswered(wasSent: false) == false)
    #expect(schedule.remainUnanswered(wasSent: false) == false)
    _ = schedule.succeed()
    #expect(schedule.remainUnanswered(wasSent: false) == false)
    #expect(schedule.remainUnanswered(wasSent: true) == false)
    #expect(schedule.remainUnanswered(wasSent: false) == false)
    #expect(schedule.remainUnanswered(wasSent: false) == true)
  }

  @Test("of silent deliveries under way for one subscription only the newest is repeated")
  func outdated() {
    var schedule = Self.schedule(capacity: 10)
    let silent = Self.deliveries(1...3)
    let visible = Self.deliveries(4...5, alert: "News")
    _ = schedule.admit(silent + visible)
    #expect(
      (silent + visible).map { schedule.newer(than: $0) } == [3, 3, nil, nil, nil])
    // The newest is done, and the others still need no repeat.
    schedule.finish(silent[2])
    #expect(schedule.newer(than: silent[0]) == 3)
    schedule.finish(silent[0])
    schedule.finish(silent[1])
    _ = schedule.admit([silent[0]])
    #expect(schedule.newer(than: silent[0]) == nil)
  }

  /// A schedule that knows that nothing waits in the store.
  private static func schedule(capacity: Int) -> DeliverySchedule {
    var schedule = DeliverySchedule(capacity: capacity)
    _ = schedule.beginTaking(at: now)
    _ = schedule.admit(TakenDeliveries())
    schedule.setNextDue(nil)
    return schedule
  }

  static func deliveries(
    _ numbers: ClosedRange<Int64>, alert: String? = nil, token: String = "aa"
  ) -> [Delivery] {
    let database = DatabaseAddress(
      container: "iCloud.test", environment: .development, scope: .public, owner: nil)
    let moment = Timestamp(milliseconds: 0)
    var subscription = Subscription(subscriptionID: "s", kind: .database(recordType: nil))
    if let alert {
      var info = NotificationInfo()
      info.alertBody = alert
      subscription.notificationInfo = info
    }
    return numbers.map { number in
      Delivery(
        id: Delivery.ID(database: DatabaseID(rawValue: 1), number: number),
        route: DeliveryRoute.ID(rawValue: 1),
        notification: SubscriptionNotification(
          database: database, subscriber: "_a", subscription: subscription,
          change: Change(
            event: .zoneCreated, zoneID: ZoneID(zoneName: "Notes"), record: nil,
            notificationID: UUID(), timestamp: moment)),
        device: DeviceToken(
          kind: .apns, token: token, container: "iCloud.test", environment: .development,
          apnsEnvironment: .development, userRecordName: "_a", deviceID: nil, registered: moment),
        badge: nil, logged: moment, due: moment)
    }
  }

  private static func numbers(_ deliveries: [Delivery]) -> [Int64] {
    deliveries.map(\.id.number)
  }
}
