import CommandInterface
import Foundation

/// The program `petrel-bench`, which measures Petrel beside other programs and beside the limits of
/// the machine.
///
/// The rates of two machines cannot be compared, so each benchmark also measures a baseline and
/// prints the ratio.
@main
enum BenchmarkProgram {
  static let petrelBench = CommandProgram(
    "petrel-bench", "Compares Petrel with similar programs and with the limits of the machine.",
    sections: [
      .init(
        nil,
        [
          SaveBenchmarkCommand.self, NotifyBenchmarkCommand.self, TestCloudBenchmarkCommand.self,
          QueryBenchmarkCommand.self, ChangesBenchmarkCommand.self, MatchBenchmarkCommand.self,
          PushBenchmarkCommand.self, FanOutBenchmarkCommand.self, ExplainBenchmarkCommand.self,
          ClusterBenchmarkCommand.self, PartitionBenchmarkCommand.self,
          SimulateBenchmarkCommand.self,
        ])
    ])

  static func main() async {
    CommandProgram.prepareProcess()
    exit(await petrelBench.run(Array(CommandLine.arguments.dropFirst())))
  }
}
