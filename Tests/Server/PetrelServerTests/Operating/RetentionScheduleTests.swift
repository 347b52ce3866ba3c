import Testing

@testable import PetrelServer

struct RetentionScheduleTests {
  private let began = ContinuousClock.now

  private func schedule(took duration: Duration) -> RetentionSchedule {
    RetentionSchedule(began: began, ended: began + duration, logged: 500)
  }

  @Test("after an hour, whatever happened")
  func hourly() {
    let schedule = schedule(took: .seconds(3))
    #expect(!schedule.isDue(at: began + .seconds(3602), logged: 500))
    #expect(schedule.isDue(at: began + .seconds(3603), logged: 500))
  }

  @Test("sooner when ten thousand entries were logged meanwhile")
  func busy() {
    let schedule = schedule(took: .milliseconds(100))
    #expect(!schedule.isDue(at: began + .seconds(60), logged: 10_499))
    #expect(schedule.isDue(at: began + .seconds(60), logged: 10_500))
  }

  @Test("for a fiftieth of the time at most, be the log as long as it may")
  func share() {
    let schedule = schedule(took: .seconds(6))
    #expect(!schedule.isDue(at: began + .seconds(305), logged: 1_000_000))
    #expect(schedule.isDue(at: began + .seconds(306), logged: 1_000_000))
  }
}
