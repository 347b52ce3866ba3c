import CloudKit
import JSONCoding
import PropertyTesting
import Testing

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct RecordFilesTests {
  private static let anna = "--database private --user anna"
  private static let ben = "--database private --user ben"

  /// The exported records without when and by whom they were saved.
  private func records(_ outcome: AdminShell.Outcome) -> [JSONValue] {
    let records = outcome.json.map { record in
      JSONValue.object((record.object ?? [:]).filter { !["created", "modified"].contains($0.key) })
    }
    return records.map { ($0, $0.text) }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  @Test("what is exported comes back as it was, with fields of every type", arguments: Way.allCases)
  func allTypes(_ way: Way) async throws {
    for seed in Seeds.some(2) {
      var records = GeneratedRecords(seed: seed)
      let lines = records.lines(count: 250)
      try await AdminShell.run(way) { shell in
        let first = try await shell.inContainer(
          "records import - --make-zones \(Self.anna)", input: lines.joined(separator: "\n") + "\n")
        #expect(first.status == 0, "seed \(seed): \(first.output)")
        #expect(first.output == "records: 250 saved\n", "\(first.output)")
        let file = shell.cloud.directory + "/records.jsonl"
        let exported = try await shell.inContainer(
          "records export \(Self.anna) --output", [file])
        #expect(exported.status == 0, "\(exported.output)")
        let second = try await shell.inContainer(
          "records import --make-zones \(Self.ben)", [file])
        #expect(second.status == 0, "seed \(seed): \(second.output)")
        let one = self.records(try await shell.inContainer("records export \(Self.anna)"))
        let other = self.records(try await shell.inContainer("records export \(Self.ben)"))
        #expect(one.count == 250)
        #expect(one == other)
        let given = try lines.map { try JSONValue(parsing: $0) }
        #expect(Set(one.map { $0["recordName"] }) == Set(given.map { $0["recordName"] }))
        let byName = Dictionary(
          grouping: one, by: { "\($0["recordName"]?.text ?? "") \($0["zoneID"]?.text ?? "")" })
        for record in given {
          let key = "\(record["recordName"]?.text ?? "") \(record["zoneID"]?.text ?? "")"
          #expect(byName[key]?.first?["fields"] == record["fields"], "seed \(seed)")
        }
      }
    }
  }

  @Test("everything is exported, whatever the grants say, and one type or zone when asked")
  func choice() async throws {
    try await AdminShell.run(.overHTTP) { shell in
      for type in ["Note", "Quake"] {
        _ = try await shell.inContainer("records put \(type) --type \(type) n:INT64=1")
      }
      let schema = try await shell.inContainer("schema export").output
      let file = shell.cloud.directory + "/schema.ckdb"
      try Data(
        schema.replacing("GRANT READ TO \"_world\"", with: "GRANT READ TO \"_creator\"").utf8
      )
      .write(to: URL(fileURLWithPath: file))
      let store = try await shell.switching(to: .onStore)
      #expect(try await store.inContainer("schema import \(file)").status == 0)
      for shell in [shell, store] {
        let all = records(try await shell.inContainer("records export"))
        #expect(all.map { $0["recordName"]?.string } == ["Note", "Quake"])
        let notes = records(try await shell.inContainer("records export --type Note"))
        #expect(notes.map { $0["recordName"]?.string } == ["Note"])
      }
      _ = try await shell.inContainer("zones save Work \(Self.anna)")
      _ = try await shell.inContainer("records put w --type Note n=1 --zone Work \(Self.anna)")
      _ = try await shell.inContainer("records put d --type Note n=1 \(Self.anna)")
      let work = records(try await store.inContainer("records export --zone Work \(Self.anna)"))
      #expect(work.map { $0["recordName"]?.string } == ["w"])
      let both = records(try await store.inContainer("records export \(Self.anna)"))
      #expect(both.count == 2)
    }
  }

  @Test("a bad line stops the import with its number, and nothing of its batch is saved")
  func badLine() async throws {
    try await AdminShell.run(.onStore) { shell in
      func line(_ name: String, _ fields: String = "{}") -> String {
        #"{"recordName":"\#(name)","recordType":"Note","fields":\#(fields)}"#
      }
      for (bad, reason) in [
        ("{\"recordName\": ", "not valid JSON"), ("[]", "must be a record as a JSON object"),
        ("{\"recordType\": \"Note\"}", "'recordName' is missing"),
        ("{\"recordName\": \"c\"}", "'recordType' of record 'c' is missing"),
        (
          line("c", #"{"photo":{"value":{"fileChecksum":"ab","size":1},"type":"ASSETID"}}"#),
          "the field 'photo' of record 'c' contains a file"
        ),
        (line("c", #"{"n":{"value":"x","type":"INT64"}}"#), "expected type INT64"),
      ] {
        let text = [line("a"), line("b"), bad, line("d")].joined(separator: "\n")
        // In a zone of its own a request is carried out as a whole, or not at all.
        let outcome = try await shell.inContainer(
          "records import - --zone Work --make-zones \(Self.anna)", input: text)
        #expect(outcome.status == 1, "\(outcome.output)")
        #expect(outcome.output.contains("line 3: "), "\(outcome.output)")
        #expect(outcome.output.contains(reason), "\(outcome.output)")
        #expect(outcome.output.contains("the import stopped; 0 records were saved"))
        #expect(records(try await shell.inContainer("records export \(Self.anna)")).isEmpty)
      }
      let left = line("c", #"{"photo":{"value":{"fileChecksum":"ab","size":1},"type":"ASSETID"}}"#)
      let outcome = try await shell.inContainer(
        "records import - --without-assets --json \(Self.anna)", input: left)
      #expect(outcome.status == 0, "\(outcome.output)")
      #expect(outcome.json.first?["assetsLeftOut"]?.int == 1)
    }
  }

  @Test(
    "an import is done again: what is there is refused, left or replaced", arguments: Way.allCases)
  func existing(_ way: Way) async throws {
    try await AdminShell.run(way) { shell in
      func text(_ numbers: Range<Int>, _ value: Int) -> String {
        numbers.map {
          #"{"recordName":"r\#($0)","recordType":"Note","fields":{"n":{"value":\#(value)}}}"#
        }.joined(separator: "\n")
      }
      func sum() async throws -> Int64 {
        let all = try await shell.inContainer("records export \(Self.anna)").json
        return all.reduce(0) { $0 + ($1["fields"]?["n"]?["value"]?.int ?? 0) }
      }
      let place = "--zone Work --make-zones \(Self.anna)"
      let first = try await shell.inContainer("records import - \(place)", input: text(0..<250, 1))
      #expect(first.output == "records: 250 saved\n", "\(first.output)")
      // In the second batch the line before is there, too.
      let refused = try await shell.inContainer(
        "records import - \(place)", input: text(300..<500, 1) + "\n" + text(249..<252, 1))
      #expect(refused.status == 1 && refused.output.contains("line 201: "), "\(refused.output)")
      #expect(refused.output.contains("200 records were saved"), "\(refused.output)")
      let skipped = try await shell.inContainer(
        "records import - --existing skip --json \(place)", input: text(240..<310, 2))
      #expect(skipped.json.first?["skipped"] == 20, "\(skipped.output)")
      #expect(skipped.json.first?["saved"] == 50)
      #expect(try await sum() == 250 + 200 + 2 * 50)
      let replaced = try await shell.inContainer(
        "records import - --existing replace \(place)", input: text(0..<250, 3))
      #expect(replaced.status == 0, "\(replaced.output)")
      #expect(try await sum() == 3 * 250 + 200 + 2 * 50)
    }
  }

  @Test("in the default zone each line stands alone, and a line may say that its record is gone")
  func defaultZone() async throws {
    try await AdminShell.run(.onStore) { shell in
      func line(_ name: String) -> String {
        #"{"recordName":"\#(name)","recordType":"Note","fields":{}}"#
      }
      _ = try await shell.inContainer("records import -", input: line("b"))
      let outcome = try await shell.inContainer(
        "records import -",
        input: ["a", "b", "", "c"].map { $0.isEmpty ? $0 : line($0) }
          .joined(separator: "\n"))
      #expect(outcome.status == 1, "\(outcome.output)")
      #expect(outcome.output.contains("line 2: ") && outcome.output.contains("(EXISTS)"))
      #expect(outcome.output.contains("; 2 records were saved"), "\(outcome.output)")
      let replayed = try await shell.inContainer(
        "records import - --existing replace",
        input: line("b") + "\n" + #"{"recordName":"a","recordType":"Note","deleted":true}"#)
      #expect(replayed.output == "records: 1 saved, 1 deleted\n", "\(replayed.output)")
      let names = records(try await shell.inContainer("records export")).map { $0["recordName"] }
      #expect(names == [.string("b"), .string("c")])
    }
  }

  @Test("records that are too large for one request together are saved in several")
  func largeRecords() async throws {
    try await AdminShell.run(.onStore) { shell in
      // Small numbers take two bytes in a line, and eight in a record.
      let numbers = Array(repeating: "1", count: 100_000).joined(separator: ",")
      let lines = (0..<7).map {
        #"{"recordName":"r\#($0)","recordType":"Note","fields":{"n":{"value":[\#(numbers)]}}}"#
      }
      let outcome = try await shell.inContainer(
        "records import - --zone Work --make-zones \(Self.anna)",
        input: lines.joined(separator: "\n"))
      #expect(outcome.status == 0 && outcome.output == "records: 7 saved\n", "\(outcome.output)")
    }
  }

  @Test("records that must be there first are saved first, however late they come")
  func order() async throws {
    try await AdminShell.run(.onStore) { shell in
      var lines: [String] = []
      for number in 0..<401 {
        // Each points at the one behind it.
        let target = #"{"recordName":"r\#(number + 1)","action":"VALIDATE"}"#
        let fields = number < 400 ? #"{"next":{"value":\#(target)}}"# : "{}"
        lines.append(#"{"recordName":"r\#(number)","recordType":"Note","fields":\#(fields)}"#)
      }
      let place = "--zone Work --make-zones \(Self.anna)"
      let outcome = try await shell.inContainer(
        "records import - \(place)", input: lines.joined(separator: "\n"))
      #expect(outcome.status == 0, "\(outcome.output)")
      #expect(outcome.output == "records: 401 saved\n")
      let again = try await shell.inContainer(
        "records import - \(place)",
        input: #"{"recordName":"x","recordType":"Note","parent":{"recordName":"nowhere"}}"#)
      #expect(again.status == 1 && again.output.contains("line 1: record 'x' refers to"))
    }
  }

  @Test("files go with their records from one database to another", arguments: Way.allCases)
  func files(_ way: Way) async throws {
    let contents = [Data("picture".utf8), Data(repeating: 7, count: 300_000), Data("third".utf8)]
    try await AdminShell.run(
      way,
      after: AdminShell.Preparation { cloud in
        let assets = try contents.enumerated().map { number, data in
          let file = URL(fileURLWithPath: cloud.directory + "/asset-\(number)")
          try data.write(to: file)
          return CKAsset(fileURL: file)
        }
        let database = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
        let zone = try await database.addZone("Work")
        try await database.add("Item", "A", ["photo": assets[0], "n": 1], zone: zone)
        try await database.add("Item", "B", ["list": [assets[1], assets[2]]], zone: zone)
      }
    ) { shell in
      let file = shell.cloud.directory + "/out.jsonl"
      let folder = shell.cloud.directory + "/files"
      let exported = try await shell.inContainer(
        "records export \(Self.anna) --output", [file, "--assets", folder])
      #expect(exported.status == 0, "\(exported.output)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 3)
      #expect(exported.output.hasSuffix("2 records\n"), "\(exported.output)")
      let imported = try await shell.inContainer(
        "records import --make-zones \(Self.ben)", [file, "--assets", folder])
      #expect(imported.output == "records: 2 saved\n", "\(imported.output)")
      if way == .onStore { try await shell.cloud.startServer() }
      let database = try await shell.cloud.container(of: "ben", device: "phone")
        .privateCloudDatabase
      let zone = CKRecordZone.ID(zoneName: "Work")
      let first = try await database.record(for: .init(recordName: "A", zoneID: zone))
      let second = try await database.record(for: .init(recordName: "B", zoneID: zone))
      let assets =
        [try #require(first["photo"] as? CKAsset)]
        + (try #require(second["list"] as? [CKAsset]))
      #expect(try assets.map { try Data(contentsOf: try #require($0.fileURL)) } == contents)

      let http = try await shell.switching(to: .overHTTP)
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
      try Data("other".utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
      let changed = try await http.inContainer(
        "records import --existing replace \(Self.ben)", [file, "--assets", folder])
      #expect(
        changed.status == 1 && changed.output.contains("does not have the SHA-256 in its name"))
      let missing = try await http.inContainer(
        "records import --existing replace \(Self.ben)", [file, "--assets", "nowhere"])
      #expect(missing.status == 1 && missing.output.contains("line 1: the file nowhere/"))
    }
  }

  @Test("an export of a record with a file fails with its field, unless it may be left out")
  func assets() async throws {
    try await AdminShell.run(
      .onStore,
      after: AdminShell.Preparation { cloud in
        let file = URL(fileURLWithPath: cloud.directory + "/photo")
        try Data("picture".utf8).write(to: file)
        let laptop = try await cloud.container(of: "anna", device: "laptop")
        try await laptop.privateCloudDatabase.add(
          "Item", "A", ["photo": CKAsset(fileURL: file), "n": 1])
      }
    ) { shell in
      let file = shell.cloud.directory + "/out.jsonl"
      let refused = try await shell.inContainer("records export \(Self.anna) --output", [file])
      #expect(refused.status == 1, "\(refused.output)")
      #expect(refused.output.contains("field 'photo' of record 'A'"), "\(refused.output)")
      #expect(!FileManager.default.fileExists(atPath: file))
      let left = try await shell.inContainer("records export --without-assets \(Self.anna)")
      #expect(left.status == 0 && left.output.contains("1 field with files was left out"))
      #expect(left.json.first?["fields"]?.object?.keys.sorted() == ["n"])
    }
  }
}
