import Concurrency
import Synchronization
import Testing
import Waiting

struct BackgroundWorkTests {
  private struct Failure: Error, CustomStringConvertible {
    var description: String { "the disk is full" }
  }

  @Test("a job runs again after its interval, and after the pause that a run returns")
  func repetition() async throws {
    let job = BackgroundJob("counting", of: "ConcurrencyTests", "always")
    let work = BackgroundWork([
      .repeated(job, every: .milliseconds(1), afterFailure: .seconds(60), report: { _ in }) {
        job.status.runs < 3 ? .zero : nil
      }
    ])
    #expect(job.status.lastRun == nil)
    work.start()
    work.start()
    try await eventually("the job has run six times") { job.status.runs >= 6 }
    await work.stop()
    #expect(job.status.failures == 0)
    #expect(job.status.lastRun != nil)
  }

  @Test("a failure is reported and kept with its time, and the job runs again")
  func failures() async throws {
    let job = BackgroundJob("failing", of: "ConcurrencyTests", "always")
    let reported = Mutex(0)
    let work = BackgroundWork([
      .repeated(
        job, every: .milliseconds(1), afterFailure: .milliseconds(1),
        report: { _ in reported.withLock { $0 += 1 } }
      ) {
        if job.status.runs < 2 { throw Failure() }
        return nil
      }
    ])
    work.start()
    try await eventually("the job has run four times") { job.status.runs >= 4 }
    await work.stop()
    #expect(job.status.failures == 2)
    #expect(reported.withLock { $0 } == 2)
    #expect(job.status.failure == "the disk is full")
    let (failed, ran) = (job.status.lastFailure, job.status.lastRun)
    #expect(failed != nil && ran != nil && failed != ran)
  }

  @Test("a job that is not due does not run, and a stopped one does not run again")
  func dueness() async throws {
    let job = BackgroundJob("waiting", of: "ConcurrencyTests", "when it is due")
    let counts = Counts()
    let work = BackgroundWork([
      .repeated(
        job, every: .milliseconds(1),
        isDue: {
          counts.asked.add(1, ordering: .relaxed)
          return counts.isDue.load(ordering: .relaxed)
        }, afterFailure: .seconds(60), report: { _ in }
      ) { nil }
    ])
    work.start()
    try await eventually("the job is asked three times") {
      counts.asked.load(ordering: .relaxed) >= 3
    }
    #expect(job.status.runs == 0)
    counts.isDue.store(true, ordering: .relaxed)
    try await eventually("the job runs") { job.status.runs >= 2 }
    await work.stop()
    // A run that had begun may still end.
    try await eventually("the run ends") { !job.status.isRunning }
    let (runs, questions) = (job.status.runs, counts.asked.load(ordering: .relaxed))
    for _ in 0..<1_000 { await Task.yield() }
    #expect(job.status.runs <= runs + 1 && counts.asked.load(ordering: .relaxed) <= questions + 1)
  }

  private final class Counts: Sendable {
    let isDue = Atomic(false)
    let asked = Atomic(0)
  }

  @Test("a run that is cancelled has not failed")
  func cancellation() async throws {
    let job = BackgroundJob("sleeping", of: "ConcurrencyTests", "always")
    let work = BackgroundWork([
      .repeated(job, every: .zero, afterFailure: .zero, report: { Issue.record($0) }) {
        await AsyncSignal().waitOrCancellation()
        try Task.checkCancellation()
        return nil
      }
    ])
    work.start()
    try await eventually("the run begins") { job.status.isRunning }
    await work.stop()
    try await eventually("the run ends") { !job.status.isRunning }
    #expect(job.status.runs == 0 && job.status.failures == 0)
  }

  @Test("parts start in the order of the list and stop in the opposite order")
  func order() async {
    let events = Mutex<[String]>([])
    let work = BackgroundWork(
      ["a", "b", "c"].map { name in
        .part(
          BackgroundJob(name, of: "ConcurrencyTests", "always"),
          start: { events.withLock { $0.append("+\(name)") } },
          stop: { events.withLock { $0.append("-\(name)") } })
      })
    work.start()
    await work.stop()
    #expect(events.withLock { $0 } == ["+a", "+b", "+c", "-c", "-b", "-a"])
    #expect(work.jobs.map(\.name) == ["a", "b", "c"])
  }
}
