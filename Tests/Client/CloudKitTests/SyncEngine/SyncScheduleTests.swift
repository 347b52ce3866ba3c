import PropertyTesting
import Testing

@testable import CloudKit

struct SyncScheduleTests {
  private typealias Work = SyncSchedule.Work

  /// Returns the schedule of an engine that has fetched and sent at the time 0.
  private func quiet() -> SyncSchedule {
    var schedule = SyncSchedule(isAutomatic: true, at: 0, random: 0.5)
    for work in [Work.fetch, .send] {
      schedule.begin(work)
      schedule.end(work, .success, at: 0, random: 0.5)
    }
    return schedule
  }

  @Test("An engine fetches first, then sends")
  func beginning() {
    var schedule = SyncSchedule(isAutomatic: true, at: 7, random: 0)
    #expect(schedule.next == (.fetch, 7))
    schedule.begin(.fetch)
    #expect(schedule.next == (.send, 7))
    schedule.begin(.send)
    #expect(schedule.next.time == .infinity)
  }

  @Test("Changes are sent half a second after the last, and two seconds after the first at most")
  func changes() {
    var schedule = quiet()
    schedule.noteChange(at: 10)
    #expect(schedule.next == (.send, 10.5))
    for tenth in 1...30 { schedule.noteChange(at: 10 + Double(tenth) / 10) }
    #expect(schedule.next == (.send, 12))
    schedule.begin(.send)
    schedule.noteChange(at: 13)
    schedule.end(.send, .success, at: 14, random: 0)
    #expect(schedule.next == (.send, 13.5))
  }

  @Test("Pushes that wait together are one fetch, and one that comes during a fetch is another")
  func pushes() {
    var schedule = quiet()
    schedule.notePush(at: 10)
    schedule.notePush(at: 10.5)
    #expect(schedule.next == (.fetch, 10))
    schedule.begin(.fetch)
    #expect(schedule.next.time == .infinity)
    schedule.notePush(at: 11)
    schedule.end(.fetch, .success, at: 12, random: 0)
    #expect(schedule.next == (.fetch, 11))
  }

  @Test("Failed work is repeated after a time that doubles up to a minute, until a success")
  func retries() {
    for (random, part) in [(0.0, 0.5), (1.0, 1.0)] {
      var schedule = quiet()
      for (failures, seconds) in zip(1..., [1.0, 2, 4, 8, 16, 32, 60, 60, 60]) {
        schedule.begin(.send)
        schedule.end(.send, .failure(nil), at: 100, random: random)
        #expect(schedule.next == (.send, 100 + seconds * part), "\(failures) failures")
      }
      schedule.begin(.send)
      schedule.end(.send, .success, at: 100, random: random)
      schedule.begin(.fetch)
      schedule.end(.fetch, .failure(nil), at: 200, random: random)
      #expect(schedule.next == (.fetch, 200 + part))
    }
  }

  @Test("A new change does not shorten the wait after a failure")
  func changeAfterFailure() {
    var schedule = quiet()
    for _ in 0..<4 {
      schedule.begin(.send)
      schedule.end(.send, .failure(nil), at: 10, random: 1)
    }
    schedule.noteChange(at: 10)
    schedule.notePush(at: 10)
    #expect(schedule.next == (.fetch, 18))
  }

  @Test("The server's time to retry counts, for calls of the program too")
  func throttle() {
    var schedule = quiet()
    schedule.begin(.fetch)
    schedule.end(.fetch, .failure(.init(code: .zoneBusy, seconds: 30)), at: 10, random: 0)
    #expect(schedule.next == (.fetch, 40))
    #expect(schedule.throttle(at: 15) == .init(code: .zoneBusy, seconds: 25))
    #expect(schedule.throttle(at: 40) == nil)
    schedule.resume(at: 20)
    #expect(schedule.next == (.fetch, 40))
    schedule.begin(.fetch)
    schedule.end(.fetch, .failure(nil), at: 50, random: 1)
    #expect(schedule.throttle(at: 50) == nil)
  }

  @Test("An engine that does not work by itself has no next work, but heeds the server's time")
  func manual() {
    var schedule = SyncSchedule(isAutomatic: false, at: 0, random: 0)
    schedule.noteChange(at: 1)
    schedule.notePush(at: 1)
    schedule.begin(.send)
    schedule.end(.send, .failure(.init(code: .serviceUnavailable, seconds: 5)), at: 2, random: 0)
    #expect(schedule.next.time == .infinity)
    #expect(schedule.throttle(at: 6) == .init(code: .serviceUnavailable, seconds: 1))
  }

  @Test("Refused work is not repeated")
  func refusal() {
    var schedule = quiet()
    schedule.begin(.send)
    schedule.end(.send, .refusal, at: 10, random: 0)
    #expect(schedule.next.work == .fetch && schedule.next.time > 700)
  }

  @Test("Without a push, an engine fetches after a quarter of an hour, a fifth more or less")
  func idle() {
    for (random, seconds) in [(0.0, 720.0), (0.5, 900), (1, 1_080)] {
      var schedule = quiet()
      schedule.begin(.fetch)
      schedule.end(.fetch, .success, at: 50, random: random)
      #expect(schedule.next == (.fetch, 50 + seconds))
    }
  }

  @Test("A cancelled schedule waits for the next change")
  func cancelling() {
    var schedule = quiet()
    schedule.noteChange(at: 10)
    schedule.notePush(at: 10)
    schedule.cancel()
    #expect(schedule.next == (.fetch, 900))
    schedule.noteChange(at: 20)
    #expect(schedule.next == (.send, 20.5))
  }

  @Test(
    "Whatever comes, changes are sent, pushes are fetched, and no failure is repeated at once",
    arguments: Seeds.some(100))
  func random(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    func random() -> Double { Double.random(in: 0...1, using: &generator) }
    var schedule = SyncSchedule(isAutomatic: true, at: 0, random: random())
    var now = 0.0
    // What the engine does not know to be done.
    var due: Set<Work> = [.fetch, .send]
    var latestFailure = -Double.infinity
    for step in 0..<300 {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        now += random()
        schedule.noteChange(at: now)
        due.insert(.send)
      case 1:
        now += random()
        schedule.notePush(at: now)
        due.insert(.fetch)
      default:
        let (work, time) = schedule.next
        if !due.isEmpty { #expect(time <= now + 60, "seed \(seed), step \(step)") }
        now = max(now, time)
        #expect(now >= latestFailure + 0.5, "seed \(seed), step \(step)")
        schedule.begin(work)
        due.remove(work)
        now += random()
        let hasFailed = Bool.random(using: &generator)
        if hasFailed {
          due.insert(work)
          latestFailure = now
        }
        schedule.end(
          work, hasFailed ? .failure(nil) : .success, at: now, random: random())
      }
    }
  }
}
