import PropertyTesting
import Testing

@testable import SQLEngine
@testable import Storage

struct CheckpointScheduleTests {
  @Test("A run begins at its mark, follows the writer, and ends while that stands still")
  func run() {
    var schedule = CheckpointSchedule(start: 1_600, limit: 6_400)
    schedule.commit(loggedPages: 1_599)
    #expect(!schedule.isDue && schedule.next() == nil)
    schedule.commit(loggedPages: 1_600)
    #expect(schedule.isDue && schedule.next() == .besideWriter)
    schedule.commit(loggedPages: 2_000)
    #expect(!schedule.holdsWriter && !schedule.isDue)
    schedule.end(copiedPages: 1_600)
    #expect(schedule.next() == .besideWriter)
    schedule.commit(loggedPages: 2_100)
    schedule.end(copiedPages: 2_000)
    #expect(schedule.next() == .alone)
    #expect(schedule.holdsWriter && schedule.isDue)
    schedule.commit(loggedPages: 2_150)
    schedule.end(copiedPages: 2_150)
    #expect(!schedule.holdsWriter && schedule.next() == nil)
    // The log began anew.
    schedule.commit(loggedPages: 1_599)
    #expect(schedule.next() == nil)
    schedule.commit(loggedPages: 1_600)
    #expect(schedule.next() == .besideWriter)
  }

  @Test("A pass that leaves nothing needs none after it")
  func idleWriter() {
    var schedule = CheckpointSchedule(start: 1_600, limit: 6_400)
    schedule.commit(loggedPages: 2_000)
    #expect(schedule.next() == .besideWriter)
    schedule.end(copiedPages: 2_000)
    #expect(!schedule.isDue && schedule.next() == nil && !schedule.holdsWriter)
  }

  @Test("A writer that copying does not keep up with waits at the limit for the end of the run")
  func limit() {
    var schedule = CheckpointSchedule(start: 1_600, limit: 6_400)
    schedule.commit(loggedPages: 1_600)
    #expect(schedule.next() == .besideWriter)
    schedule.commit(loggedPages: 6_399)
    #expect(!schedule.holdsWriter)
    schedule.commit(loggedPages: 6_400)
    #expect(schedule.holdsWriter)
    schedule.end(copiedPages: 1_600)
    #expect(schedule.holdsWriter && schedule.next() == .besideWriter)
    schedule.end(copiedPages: 6_400)
    #expect(!schedule.holdsWriter)
  }

  @Test("A log that somebody reads, and a disk that fails, are tried again later, not at once")
  func obstacles() {
    var schedule = CheckpointSchedule(start: 1_600, limit: 6_400)
    schedule.commit(loggedPages: 1_600)
    for pages in [Int?.none, 0] {
      let before = schedule.loggedPages
      while let pass = schedule.next() {
        schedule.end(copiedPages: pages)
        if pass == .alone { break }
      }
      #expect(!schedule.holdsWriter && schedule.next() == nil)
      schedule.commit(loggedPages: before + 99)
      #expect(!schedule.isDue)
      schedule.commit(loggedPages: before + 100)
      #expect(schedule.isDue)
    }
    // Beyond the limit the writer waits for an attempt now and then, not for those who read.
    schedule.commit(loggedPages: 10_000)
    #expect(schedule.holdsWriter)
    while let pass = schedule.next() {
      schedule.end(copiedPages: 9_000)
      if pass == .alone { break }
    }
    #expect(!schedule.holdsWriter)
    schedule.commit(loggedPages: 10_099)
    #expect(!schedule.holdsWriter)
  }

  @Test(
    "Whatever comes when, no pass begins on a log that is wholly copied, and nobody waits for ever")
  func interleaved() throws {
    for seed in Seeds.some(300) {
      var world = World(seed: seed)
      for _ in 0..<400 {
        world.step()
        try #require(world.complaint == nil, "seed \(seed): \(world.complaint ?? "")")
      }
      // Let alone, it comes to rest.
      world.isRead = false
      world.endTransaction()
      world.tell()
      var steps = 0
      while world.isBusy {
        world.advancePass()
        steps += 1
        try #require(steps < 100, "seed \(seed): the run does not end")
      }
      try #require(world.complaint == nil, "seed \(seed): \(world.complaint ?? "")")
      try #require(!world.schedule.holdsWriter, "seed \(seed): the writer is held")
    }
  }

  /// A writer, a log as SQLite has it, and the thread that copies, in small steps in any order.
  private struct World {
    enum Stage {
      case waiting(CheckpointSchedule.Pass)
      /// It has read how long the log is.
      case begun(through: Int)
      /// The log says how much is copied.
      case copied
    }

    var schedule = CheckpointSchedule(start: 64, limit: 200)
    var generator: SeededGenerator
    var pages = 0
    var copied = 0
    var isRead = false
    /// Since the log began anew.
    var wasRead = false
    var isWriting = false
    /// Whether the writer has committed and not reported it yet.
    var isUntold = false
    var stage: Stage?
    var complaint: String?

    init(seed: Int) { generator = SeededGenerator(seed: seed) }

    var isBusy: Bool { stage != nil || schedule.isDue }

    mutating func step() {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        isRead.toggle()
        wasRead = true
      case 1...3: advancePass()
      default:
        if isUntold {
          tell()
        } else if isWriting {
          endTransaction()
        } else if !schedule.holdsWriter {
          isWriting = true
          schedule.begin()
        }
      }
    }

    mutating func endTransaction() {
      guard isWriting, !isUntold else { return }
      isUntold = true
      if pages > 0, copied == pages, !isRead {
        (pages, copied) = (0, 0)
        wasRead = false
      }
      pages += Int.random(in: 1...40, using: &generator)
      if pages >= 200 + 40, !wasRead { complaint = "the log has \(pages) pages" }
    }

    mutating func tell() {
      guard isUntold else { return }
      isUntold = false
      isWriting = false
      schedule.commit(loggedPages: pages)
    }

    mutating func advancePass() {
      switch stage {
      case nil:
        stage = schedule.next().map { .waiting($0) }
      case .waiting(let pass):
        if pass == .alone && isWriting { return }
        if copied == pages { complaint = "a pass begins though all \(pages) pages are copied" }
        stage = .begun(through: pages)
      case .begun(let end):
        if !isRead { copied = max(copied, end) }
        stage = .copied
      case .copied:
        schedule.end(copiedPages: copied)
        stage = nil
      }
    }
  }
}
