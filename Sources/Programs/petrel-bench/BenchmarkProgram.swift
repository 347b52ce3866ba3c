import CommandInterface
import Foundation

/// The program `petrel-bench`. It measures Petrel, and compares the results with those of other
/// programs and with the limits of the machine.
///
/// The rates of two machines cannot be compared. Most benchmarks therefore also measure a
/// *baseline* on the same machine, such as the rate of SQLite alone, and print the ratio.
@main
enum BenchmarkProgram {
  static let petrelBench = CommandProgram(
    "petrel-bench", "Compares Petrel with similar programs and with the limits of the machine.",
    sections: [
      .init(
        nil,
        [
          SaveBenchmarkCommand(), NotifyBenchmarkCommand(), TestCloudBenchmarkCommand(),
          QueryBenchmarkCommand(), ChangesBenchmarkCommand(), MatchBenchmarkCommand(),
          PushBenchmarkCommand(), FanOutBenchmarkCommand(), ShareBenchmarkCommand(),
          SyncBenchmarkCommand(), ExplainBenchmarkCommand(),
          ClusterBenchmarkCommand(), PartitionBenchmarkCommand(),
          SimulateBenchmarkCommand(),
        ])
    ])

  static func main() async {
    CommandProgram.prepareProcess()
    exit(await petrelBench.run(Array(CommandLine.arguments.dropFirst())))
  }
}
