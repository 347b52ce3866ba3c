import CloudKit
import JSONCoding
import Testing

@Suite(
  "Figures of petrel bench",
  .enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct BenchmarkFiguresTests {
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-bench-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  /// All that a benchmark prints, which is one JSON object.
  private func figures(_ words: String, in folder: String) async throws -> JSONValue {
    let program = try Program(
      "petrel", ["bench"] + words.split(separator: " ").map(String.init) + ["--json"], in: folder)
    try #require(await program.end() == 0, "\(program.output)")
    return try JSONValue(parsing: program.output)
  }

  @Test("a row has the times of what was measured and their ratio to the yardstick's")
  func testCloud() async throws {
    try await withFolder { folder in
      let figures = try await figures("testcloud --count 2", in: folder)
      #expect(figures["benchmark"] == "testcloud" && figures["count"] == 2)
      let rows = figures["measurements"]?.array ?? []
      #expect(rows.map { $0["measured"] } == ["emptyStore", "testCloud", "firstAnswer"])
      for row in rows {
        for name in ["mean", "p50", "p99", "greatest"] {
          #expect(row[name + "Milliseconds"]?.double ?? 0 > 0, "\(row)")
        }
        #expect(row["ratioToYardstick"]?.double ?? 0 > 0, "\(row)")
      }
      #expect(rows.first?["ratioToYardstick"]?.double == 1)
    }
  }

  @Test("a rate stands beside the yardstick's, and their ratio")
  func changes() async throws {
    try await withFolder { folder in
      let figures = try await figures(
        "changes --records 1000 --rounds 2 --data \(folder)/data", in: folder)
      #expect(figures["benchmark"] == "changes" && figures["records"] == 1000)
      let yardstick = try #require(figures["yardstickRowsPerSecond"]?.double)
      let rows = figures["measurements"]?.array ?? []
      #expect(rows.map { $0["round"] } == [1, 2])
      for row in rows {
        let rate = try #require(row["recordsPerSecond"]?.double)
        let ratio = try #require(row["ratioToYardstick"]?.double)
        #expect(abs(ratio * yardstick - rate) < rate / 1000, "\(row)")
        #expect(row["pageP50Milliseconds"]?.double ?? 0 > 0, "\(row)")
      }
    }
  }

  @Test("every benchmark has them")
  func all() async throws {
    try await withFolder { folder in
      let group = try Program("petrel", ["help", "bench"], in: folder)
      _ = try await group.end()
      let names = Set(group.output.matches(of: /bench ([a-z]+)/).map { String($0.1) })
      #expect(names.count >= 9, "\(group.output)")
      for name in names {
        let help = try Program("petrel", ["help", "bench", name], in: folder)
        _ = try await help.end()
        #expect(help.output.contains("--json"), "\(help.output)")
      }
    }
  }
}
