import CloudKitModel
import Synchronization
import Testing

@testable import DatabaseAPI

struct CourierReadersTests {
  @Test("a poll is woken by a notification of its user")
  func wakesByUser() async {
    let readers = CourierReaders(clock: { Timestamp(milliseconds: 0) })
    let reader = readers.register(
      "t", userRecordNames: ["_a"], deadline: Timestamp(milliseconds: 1))
    async let done: Void = reader.wait()
    readers.wake(["_b"])
    readers.wake(["_a"])
    await done
  }

  @Test("a notification between registering and waiting is not missed")
  func keepsEarlyWake() async {
    let readers = CourierReaders(clock: { Timestamp(milliseconds: 0) })
    let reader = readers.register(
      "t", userRecordNames: ["_a"], deadline: Timestamp(milliseconds: 1))
    readers.wake(["_a"])
    await reader.wait()
  }

  @Test("a notification during a search ends the wait after it, and one before the search does not")
  func searches() async {
    let readers = CourierReaders(clock: { Timestamp(milliseconds: 0) })
    let reader = readers.register(
      "t", userRecordNames: ["_a"], deadline: Timestamp(milliseconds: 1))
    readers.wake(["_a"])
    reader.arm()
    async let done: Void = reader.wait()
    while readers.suspendedCount == 0 { await Task.yield() }
    readers.wake(["_a"])
    await done
    reader.arm()
    readers.wake(["_a"])
    await reader.wait()
  }

  @Test("another wait is for the present users, until its own deadline")
  func renewal() async {
    let now = Mutex(Timestamp(milliseconds: 0))
    let readers = CourierReaders(clock: { now.withLock { $0 } })
    let reader = readers.register(
      "t", userRecordNames: ["_a"], deadline: Timestamp(milliseconds: 1000))
    now.withLock { $0 = Timestamp(milliseconds: 2000) }
    readers.endOverdue()
    #expect(readers.isOver(reader))
    readers.renew(
      reader, userRecordNames: ["_b", "_c"], deadline: Timestamp(milliseconds: 3000))
    #expect(!readers.isOver(reader))
    #expect(readers.count == 1)
    async let done: Void = reader.wait()
    while readers.suspendedCount == 0 { await Task.yield() }
    readers.wake(["_a"])
    #expect(readers.suspendedCount == 1)
    readers.wake(["_c"])
    await done
    readers.unregister(reader)
    #expect(readers.count == 0)
  }

  @Test("a poll whose time is up is ended by the one timer")
  func endsOverdue() async {
    let readers = CourierReaders(clock: { Timestamp(milliseconds: 5000) })
    let reader = readers.register(
      "t", userRecordNames: ["_a"], deadline: Timestamp(milliseconds: 4000))
    await reader.wait()
  }

  @Test("polls end when the clock is set back, and none before its time when it is corrected")
  func clockSetBack() async {
    let now = Mutex(Timestamp(milliseconds: 1_000_000_000))
    let readers = CourierReaders(clock: { now.withLock { $0 } })
    let deadline = now.withLock { $0.advanced(bySeconds: 60) }
    let reader = readers.register("t", userRecordNames: ["_a"], deadline: deadline)
    readers.endOverdue()
    now.withLock { $0 = $0.advanced(bySeconds: -0.5) }
    readers.endOverdue()
    #expect(!readers.isOver(reader))
    now.withLock { $0 = $0.advanced(bySeconds: -86_400) }
    await reader.wait()
    #expect(readers.isOver(reader))
    let later = readers.register(
      "t", userRecordNames: ["_a"], deadline: now.withLock { $0.advanced(bySeconds: 60) })
    readers.endOverdue()
    #expect(!readers.isOver(later))
  }

  @Test("closing ends the polls that wait and those that come later")
  func closes() async {
    let readers = CourierReaders(clock: { Timestamp(milliseconds: 0) })
    let early = readers.register("t", userRecordNames: ["_a"], deadline: Timestamp(milliseconds: 1))
    async let done: Void = early.wait()
    readers.close()
    await done
    let late = readers.register("t", userRecordNames: ["_a"], deadline: Timestamp(milliseconds: 1))
    await late.wait()
    #expect(readers.isClosed)
  }

  @Test("a poll counts once however many users it listens for, until it is done or refused")
  func counts() {
    let readers = CourierReaders(clock: { Timestamp(milliseconds: 0) })
    let deadline = Timestamp(milliseconds: 1)
    let one = readers.register("t", userRecordNames: ["_a"], deadline: deadline)
    let two = readers.register("t", userRecordNames: ["_a", "_b"], deadline: deadline)
    #expect(readers.count == 2)
    readers.unregister(two)
    readers.unregister(two)
    #expect(readers.count == 1)
    readers.close()
    let late = readers.register("t", userRecordNames: ["_c"], deadline: deadline)
    readers.unregister(late)
    readers.unregister(one)
    #expect(readers.count == 0)
  }
}
