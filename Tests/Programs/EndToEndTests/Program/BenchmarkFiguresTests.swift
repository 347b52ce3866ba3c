import CloudKit
import JSONCoding
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel-bench"), "the program petrel-bench is not built"))
struct BenchmarkFiguresTests {
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-bench-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  /// All that a benchmark prints, which is one JSON object.
  private func figures(_ words: String, in folder: String) async throws -> JSONValue {
    try JSONValue(parsing: await output(words + " --json", in: folder))
  }

  private func output(_ words: String, in folder: String) async throws -> String {
    let program = try Program(
      "petrel-bench", words.split(separator: " ").map(String.init), in: folder)
    try #require(await program.end() == 0, "\(program.output)")
    return program.output
  }

  @Test("a row has the times of what was measured and their ratio to the baseline's")
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
        #expect(row["ratioToBaseline"]?.double ?? 0 > 0, "\(row)")
      }
      #expect(rows.first?["ratioToBaseline"]?.double == 1)
    }
  }

  @Test("a rate stands beside the baseline's, and their ratio")
  func changes() async throws {
    try await withFolder { folder in
      let figures = try await figures(
        "changes --records 1000 --rounds 2 --data \(folder)/data", in: folder)
      #expect(figures["benchmark"] == "changes" && figures["records"] == 1000)
      let baseline = try #require(figures["baselineRowsPerSecond"]?.double)
      let rows = figures["measurements"]?.array ?? []
      #expect(rows.map { $0["round"] } == [1, 2])
      for row in rows {
        let rate = try #require(row["recordsPerSecond"]?.double)
        let ratio = try #require(row["ratioToBaseline"]?.double)
        #expect(abs(ratio * baseline - rate) < rate / 1000, "\(row)")
        #expect(row["pageP50Milliseconds"]?.double ?? 0 > 0, "\(row)")
      }
    }
  }

  @Test("a shared hierarchy and its feeds stand beside those that are not shared")
  func share() async throws {
    try await withFolder { folder in
      let figures = try await figures(
        "share --zones 2 --participants 2 --rate 20 --seconds 1 --descendants 400 --rounds 1 "
          + "--patience 5 --data \(folder)/data", in: folder)
      #expect(figures["benchmark"] == "share" && figures["participants"] == 2)
      let shares = figures["shares"]?.array ?? []
      #expect(shares.map { $0["descendants"] } == [0, 400])
      for row in shares { #expect(row["milliseconds"]?.double ?? 0 > 0, "\(row)") }
      let feeds = figures["feeds"]?.array ?? []
      #expect(feeds.map { $0["reader"] } == ["owner", "participant"])
      let rates = feeds.compactMap { $0["recordsPerSecond"]?.double }
      let ratio = try #require(feeds.last?["ratioToBaseline"]?.double)
      #expect(abs(rates[0] * ratio - rates[1]) < rates[1] / 1000)
      // The figures of participants are left out if the server notifies none.
      let isNotified = try #require(figures["areParticipantsNotified"]?.bool as Bool?)
      let rows = figures["notifications"]?.array ?? []
      #expect(rows.map { $0["log"] } == (isNotified ? ["owner", "last"] : ["owner"]))
      for row in rows {
        #expect(row["saves"] == 20 && row["p99Milliseconds"]?.double != nil, "\(row)")
      }
      #expect(figures["savesPerSecond"]?.double ?? 0 > 0)
      #expect((figures["participantNotificationsPerSecond"] != nil) == isNotified)
    }
  }

  @Test("what an engine sends and fetches stands beside what plain calls do")
  func sync() async throws {
    try await withFolder { folder in
      let figures = try await figures(
        "sync --changes 500 --records 300 --pending 100,300 --delays 5 --rate 50 --rounds 2 "
          + "--data \(folder)/data", in: folder)
      #expect(figures["benchmark"] == "sync" && figures["changes"] == 500)
      for (list, way, ways) in [
        ("sends", "sender", ["modifyRecords", "engine", "engineWithStoredStates"]),
        ("fetches", "reader", ["recordZoneChanges", "engine"]),
      ] {
        let rows = figures[list]?.array ?? []
        #expect(rows.compactMap { $0[way]?.string } == ways + ways)
        for (place, row) in rows.enumerated() {
          let rate = try #require(row["recordsPerSecond"]?.double)
          let baseline = try #require(
            rows[place - place % ways.count]["recordsPerSecond"]?.double)
          let ratio = try #require(row["ratioToBaseline"]?.double)
          #expect(abs(ratio * baseline - rate) < rate / 1000, "\(row)")
        }
      }
      let memory = figures["memory"]?.array ?? []
      let passed = memory.compactMap { $0["changes"]?.double }
      #expect(passed.first == 0 && passed.last == 500 && passed == passed.sorted())
      for row in memory {
        #expect(row["residentBytes"]?.double ?? 0 > 0 && row["allocatedBytes"]?.double ?? 0 > 0)
      }
      let pending = figures["pending"]?.array ?? []
      #expect(pending.map { $0["changes"] } == [100, 300])
      for row in pending {
        for name in ["addMicrosecondsPerChange", "sendRatioToBaseline", "allocatedBytesPerChange"] {
          #expect(row[name]?.double ?? 0 > 0, "\(name): \(row)")
        }
      }
      let delays = figures["delays"]?.array ?? []
      #expect(delays.map { $0["devices"] } == ["plain", "engines"])
      for row in delays {
        #expect(row["changes"] == 10 && row["saveP50Milliseconds"]?.double ?? 0 > 0, "\(row)")
        #expect(row["p99Milliseconds"]?.double ?? 0 > 0, "\(row)")
      }
    }
  }

  @Test(
    "servers on one PostgreSQL: what each save costs, and pgbench beside it; the model reads it")
  func cluster() async throws {
    try await withFolder { folder in
      let text = try await output(
        "cluster --servers 1,2 --seconds 1 --databases 3 --connections 4 --rate 50 --json",
        in: folder
      )
      let figures = try JSONValue(parsing: text)
      let rows = figures["measurements"]?.array ?? []
      #expect(rows.map { $0["isPaced"]?.bool } == [false, true, false, true, false, true])
      #expect(
        rows.map { $0["hasSubscriptions"]?.bool } == [false, false, true, true, true, true])
      for row in rows {
        for name in [
          "savesPerSecond", "statementsPerSave", "rowsPerSave", "commitsPerSave", "logBytesPerSave",
          "serverProcessorMicrosecondsPerSave", "postgreSQLProcessorMicrosecondsPerSave",
          "commitMeanMilliseconds",
        ] { #expect(row[name]?.double ?? 0 > 0, "\(name): \(row)") }
        #expect(row["undispatched"]?.double == 0)
        // A record and the entries of its fields, at least.
        #expect(row["rowsPerSave"]?.double ?? 0 >= 4)
      }
      #expect(rows[2]["baselineSavesPerSecond"]?.double ?? 0 > 0)
      #expect(rows[2]["statements"]?["INSERT records"]?["rowsPerSave"]?.double ?? 0 > 0.9)
      #expect(rows[2]["loggedP50Milliseconds"]?.double ?? 0 > 0)

      try text.write(toFile: folder + "/counts.json", atomically: true, encoding: .utf8)
      let answer = try await self.figures(
        "simulate --counts \(folder)/counts.json --saves 500 --users 1000 --subscriptions 10k "
          + "--servers 2 --shards 1 --seconds 1 --plot \(folder)/plot.svg", in: folder)
      #expect(answer["sweep"]?.array?.count ?? 0 > 5)
      // A second's figures may give one of the parts all that the others have.
      let costs = ["transaction", "save", "change", "catchUp"].compactMap {
        answer["costs"]?[$0]?["serverMicroseconds"]?.double
      }
      #expect(costs.count == 4 && costs.reduce(0, +) > 0)
      let plot = try String(contentsOfFile: folder + "/plot.svg", encoding: .utf8)
      #expect(plot.hasPrefix("<svg") && plot.contains("<polyline") && plot.contains("dark"))
      let check = try Program(
        "petrel-bench", ["simulate", "--counts", folder + "/counts.json", "--check"], in: folder)
      // Whether predictions of so short a measurement are right is not asked.
      #expect(try await [0, 1].contains(check.end()))
      #expect(check.output.matches(of: /calibrating|checking/).count == 6, "\(check.output)")
    }
  }

  @Test("a public database in parts: what each server has of it, also after one is killed")
  func partition() async throws {
    try await withFolder { folder in
      let figures = try await self.figures(
        "partition --servers 2 --parts 1,2 --subscriptions 400 --fired 40 --saves 5", in: folder)
      let rows = figures["measurements"]?.array ?? []
      #expect(rows.map { $0["parts"]?.double } == [1, 2])
      let shares = rows.map {
        ($0["notificationsOfEach"]?.array ?? []).compactMap(\.double).sorted()
      }
      #expect(shares.allSatisfy { $0.reduce(0, +) == 200 }, "\(shares)")
      #expect(shares.first?.first == 0 && shares.last?.first ?? 0 > 0, "\(shares)")
      for row in rows { #expect(row["dispatchedAgainSeconds"]?.double ?? 0 > 0, "\(row)") }
      #expect(rows.last?["indexRatioToBaseline"]?.double ?? 0 > 0)
    }
  }

  @Test("a simulation refuses what it cannot take")
  func simulation() async throws {
    try await withFolder { folder in
      for (words, complaint) in [
        ("--saves many", "--saves must be a number such as 50000, 50k or 10M"),
        ("--check", "--check needs --counts"),
        ("--counts \(folder)/none", "cannot read \(folder)/none: No such"),
      ] {
        let program = try Program(
          "petrel-bench", ["simulate"] + words.split(separator: " ").map(String.init), in: folder
        )
        #expect(try await program.end() == 64)
        #expect(program.output.contains(complaint), "\(program.output)")
      }
    }
  }

  @Test("every benchmark has them")
  func all() async throws {
    try await withFolder { folder in
      let group = try Program("petrel-bench", ["help"], in: folder)
      _ = try await group.end()
      let names = Set(group.output.matches(of: #/\n  ([a-z]+) /#).map { String($0.1) })
      #expect(names.count >= 9, "\(group.output)")
      for name in names {
        let help = try Program("petrel-bench", ["help", name], in: folder)
        _ = try await help.end()
        #expect(help.output.contains("--json"), "\(help.output)")
      }
    }
  }
}
