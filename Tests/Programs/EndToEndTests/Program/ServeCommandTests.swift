import CloudKit
import FoundationNetworking
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct ServeCommandTests {
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-serve-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  @Test(
    "SIGHUP reads the configuration anew, says what changed, and keeps the old one if it is bad")
  func reloads() async throws {
    try await withFolder { folder in
      func configure(_ text: String) throws {
        try text.write(toFile: folder + "/server.json", atomically: true, encoding: .utf8)
      }
      try configure(#"{"limits": {"waitingPushes": 5}}"#)
      let server = try Program(
        "petrel", ["serve", "--data", folder, "--port", "0"],
        environment: ["PETREL_LOG_FORMAT": "json"], in: folder)
      try await eventually("the server listens") { server.output.contains("listens on") }
      try configure(
        #"{"limits": {"waitingPushes": 6, "requestRates": {"user": {"perSecond": 1}}}}"#)
      server.signal(SIGHUP)
      try await eventually("the change is told") {
        server.output.contains(
          #""changed":"limits.requestRates.user.perSecond, limits.waitingPushes""#)
      }
      try await eventually("a restart is asked for") {
        server.output.contains(#""keys":"limits.waitingPushes""#)
      }
      try configure("{\n\"prot\": 1}")
      server.signal(SIGHUP)
      try await eventually("the mistake is told") {
        server.output.contains(folder + "/server.json:2: unknown key 'prot'")
      }
      server.signal(SIGTERM)
      #expect(try await server.end() == 0, "\(server.output)")
    }
  }

  @Test(
    "a server that other machines can reach needs the list of containers",
    arguments: [["--address", "0.0.0.0"], ["--public-url", "https://cloud.example.com"]])
  func needsContainers(options: [String]) async throws {
    try await withFolder { folder in
      let arguments = ["serve", "--data", folder, "--port", "0"] + options
      let refused = try Program("petrel", arguments, environment: [:], in: folder)
      #expect(try await refused.end() != 0)
      for part in [
        "'containers' is missing", #""containers": {"iCloud.com.example.app": {}}"#,
        #""anyContainer": true"#,
      ] {
        #expect(refused.output.contains(part), "\(refused.output)")
      }
      for environment in [
        ["PETREL_CONTAINERS": #"{"iCloud.com.example.app": {}}"#],
        ["PETREL_ANY_CONTAINER": "true"],
      ] {
        let server = try Program("petrel", arguments, environment: environment, in: folder)
        try await eventually("the server listens") { server.output.contains("listens on") }
        server.signal(SIGTERM)
        #expect(try await server.end() == 0, "\(server.output)")
      }
    }
  }

  @Test("a mistake stops the start with its place")
  func mistakes() async throws {
    try await withFolder { folder in
      let server = try Program(
        "petrel", ["serve", "--data", folder], environment: ["PETREL_PROT": "1"], in: folder)
      #expect(try await server.end() == 1)
      #expect(
        server.output.hasPrefix("petrel: serve: PETREL_PROT: the configuration has no key for it"),
        "\(server.output)")
    }
  }

  @Test("every mistake is told before a start, and by 'petrel config', in files that are named too")
  func allMistakes() async throws {
    try await withFolder { folder in
      let file = folder + "/server.json"
      try """
      {
        "prot": 1,
        "limits": {"waitingPushes": "many"},
        "containers": {"iCloud.a": {"apns":
          {"topics": ["a.b"], "teamID": "T", "keyID": "K", "keyFile": "none.p8"},
          "strings": {"folder": "none"}}},
        "webPush": {"subject": "mailto:a@example.com",
          "keyFile": "none.pem"}
      }
      """.write(toFile: file, atomically: true, encoding: .utf8)
      let own = [
        "PETREL_LOGLEVLE: the configuration has no key for it",
        "\(file):2: unknown key 'prot'; did you mean 'port'? known are address",
        "\(file):3: limits: 'waitingPushes' must be a whole number from",
      ]
      let inFiles = [
        "\(file):5: containers: iCloud.a: apns: keyFile \(folder)/none.p8 cannot be read",
        "\(file):6: containers: iCloud.a: strings: \(folder)/none: is not a folder that can be read",
        "\(file):8: webPush: keyFile \(folder)/none.pem cannot be read",
      ]
      for (words, mistakes) in [
        (["serve"], own + inFiles), (["config", "--check"], own + inFiles), (["config"], own),
      ] {
        let program = try Program(
          "petrel", words + ["--data", folder], environment: ["PETREL_LOGLEVLE": "debug"],
          in: folder)
        #expect(try await program.end() == 1)
        let lines = program.output.split(separator: "\n")
        #expect(
          lines.first == "petrel: \(words[0]): \(mistakes.count) mistakes in the configuration:",
          "\(program.output)")
        #expect(lines.count == mistakes.count + 1, "\(program.output)")
        for (line, mistake) in zip(lines.dropFirst(), mistakes) {
          #expect(line.hasPrefix("  " + mistake), "\(line)")
        }
      }
      #expect(!FileManager.default.fileExists(atPath: folder + "/petrel.sqlite"))
    }
  }

  @Test("a log that cannot be written does not stop the server, which counts the lost lines")
  func unwritableLog() async throws {
    try await withFolder { folder in
      let server = try Program(
        "petrel", ["serve", "--data", folder, "--port", "0"],
        through: ["/bin/sh", "-c", #"exec "$0" "$@" 2>/dev/full"#], in: folder)
      let line = try await server.line(containing: "listens on")
      let url = try #require(line.split(separator: " ").last.flatMap { URL(string: String($0)) })
      // The refusal of an unknown path has a line in the log.
      _ = try await URLSession.shared.data(from: url.appendingPathComponent("nothing"))
      let page = try await URLSession.shared.data(from: url.appendingPathComponent("metrics")).0
      let text = String(decoding: page, as: UTF8.self)
      #expect(text.contains("\npetrel_log_lines_lost_total 1\n"), "\(text)")
      server.signal(SIGTERM)
      #expect(try await server.end() == 0, "\(server.output)")
    }
  }

  @Test("a command whose output cannot be written fails with the reason")
  func unwritableOutput() async throws {
    try await withFolder { folder in
      let program = try Program(
        "petrel", ["help"], through: ["/bin/sh", "-c", #"exec "$0" "$@" >/dev/full"#], in: folder)
      #expect(try await program.end() == 1)
      #expect(program.output == "petrel: the output cannot be written: No space left on device\n")
    }
  }

  @Test("'petrel limits' prints what a server with this configuration answers")
  func limits() async throws {
    try await withFolder { folder in
      try #"{"limits": {"subscriptionsPerUser": 7}}"#.write(
        toFile: folder + "/server.json", atomically: true, encoding: .utf8)
      func run(_ words: String...) async throws -> (Int32, String) {
        let program = try Program("petrel", ["limits", "--data", folder] + words, in: folder)
        return (try await program.end(), program.output)
      }
      let (status, text) = try await run()
      #expect(status == 0)
      #expect(text.contains(#/\nsubscriptionsPerUser +7 +count\n/#), "\(text)")
      #expect(text.contains(#/\nrecordSize +1000000 +bytes\n/#), "\(text)")
      let (_, json) = try await run("--json")
      #expect(json.contains(#""subscriptionsPerUser":{"value":7,"unit":"count"}"#), "\(json)")
      #expect(try await run("all").0 == 64)
    }
  }

  @Test("a backup may have a name without a folder, and a slash at its end")
  func relativeNames() async throws {
    try await withFolder { folder in
      func run(_ words: String...) async throws -> (Int32, String) {
        let program = try Program("petrel", words, in: folder)
        return (try await program.end(), program.output)
      }
      #expect(try await run("users", "add", "anna", "--data", "d").0 == 0)
      #expect(try await run("backup", "copy/", "--data", "d") == (0, "the backup is in copy/\n"))
      #expect(try await run("restore", "copy", "--data", "new").0 == 0)
      let users = try await run("users", "list", "--data", "new")
      #expect(users.1.contains("anna"), "\(users.1)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder).contains("copy.partial")
          == false)
    }
  }

  @Test("a backup that is made while a server serves can be restored")
  func backup() async throws {
    try await Cloud.run { cloud in
      let database = try await cloud.container(of: "anna", device: "phone").privateCloudDatabase
      try await database.add("Item", "kept", ["n": 1])
      func run(_ words: String...) async throws -> (Int32, String) {
        let program = try Program("petrel", words, in: cloud.directory)
        return (try await program.end(), program.output)
      }
      let copy = cloud.directory + "/copy"
      let new = cloud.directory + "/new"
      #expect(
        try await run("backup", copy, "--data", cloud.directory)
          == (0, "the backup is in \(copy)\n"))
      let again = try await run("backup", copy, "--data", cloud.directory)
      #expect(again.0 == 1 && again.1.contains("already exists"), "\(again.1)")
      #expect(try await run("restore", copy, "--data", new).0 == 0)
      let served = try await run("restore", copy, "--data", cloud.directory)
      #expect(served.0 == 1 && served.1.contains("another server has the store"), "\(served.1)")
      #expect(try await run("users", "list", "--data", new).1.contains("anna"))
    }
  }
}
