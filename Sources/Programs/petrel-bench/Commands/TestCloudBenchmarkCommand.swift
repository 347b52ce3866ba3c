import CommandInterface
import Foundation
import PetrelTesting
import Storage

/// The command `petrel-bench testcloud`. It measures the time to start a `TestCloud`, the server
/// that tests use. The baseline is the time to open an empty store in memory.
struct TestCloudBenchmarkCommand: Command {
  let name = "testcloud"
  let example = "petrel-bench testcloud"
  let summary = "Measures the time to start the cloud of a test."
  let options: [Arguments.Option] = [
    .init("count", "NUMBER", "clouds started, one after the other (default 200)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let count = try arguments.int("count", in: 1...100_000) ?? 200
    var stores: [Double] = []
    var clouds: [Double] = []
    var first: [Double] = []
    // Stores and clouds take turns, so that both are measured under the same conditions.
    for _ in 0..<count {
      let begin = monotonicSeconds()
      let store = try await Store.inMemory()
      stores.append(monotonicSeconds() - begin)
      await store.close()

      let start = monotonicSeconds()
      let cloud = try await TestCloud()
      clouds.append(monotonicSeconds() - start)
      _ = try await cloud.container(user: "anna").userRecordID()
      first.append(monotonicSeconds() - start)
      await cloud.stop()
    }
    let report = BenchmarkReport("testcloud", arguments)
    report.set(["count": .figure(count)])
    report.line("\(count) of each                             p50        p99    greatest")
    let baseline = Percentiles(stores)
    for (what, title, times) in [
      ("emptyStore", "opening an empty store in memory", baseline),
      ("testCloud", "starting a TestCloud", Percentiles(clouds)),
      ("firstAnswer", "until its first request is answered", Percentiles(first)),
    ] {
      report.row(
        "measurements",
        [
          "measured": .string(what),
          "ratioToBaseline": .figure(times.quantile(0.5) / baseline.quantile(0.5)),
        ], times.figures())
      report.line(
        title.padding(toLength: 36, withPad: " ", startingAt: 0)
          + times.text(0.5).leftPadding(to: 11) + times.text(0.99).leftPadding(to: 11)
          + times.text(1).leftPadding(to: 12))
    }
    report.end()
    return 0
  }
}
