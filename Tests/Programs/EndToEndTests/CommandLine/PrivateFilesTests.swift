import CloudKit
import JSONCoding
import RepositoryFiles
import Testing
import Waiting

/// Whatever the umask lets others read, what Petrel makes is for its user alone.
@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct PrivateFilesTests {
  private static let container = ["--container", "iCloud.org.example.Files"]
  private static let inContainer = container + ["--data", "data"]
  private static let notes = inContainer + ["--database", "private", "--user", "anna"]
  private static let small = ["--data", "bench"]

  /// How a command is run here.
  private enum Use {
    /// To its end, with these words after its name.
    case words([String], input: String? = nil)
    /// Until it prints a text.
    case until(String, [String])
    /// Not at all, for a reason.
    case leftOut(String)
  }

  /// All commands, in the order in which they are run; a new one is to be put in its place.
  private static let uses: [(command: String, use: Use)] = [
    ("simulate-apns", .until("listening", ["--data", "apns", "--port", "0", "--json"])),
    ("store init", .words(["--data", "data"])),
    ("users add", .words(["anna", "--data", "data"])),
    ("users list", .words(["--data", "data"])),
    ("users show", .words(["anna", "--data", "data"])),
    ("users password", .words(["anna", "--data", "data"], input: "correct horse 7\n")),
    ("users add-token", .words(["anna", "--data", "data"])),
    ("users sign-out", .words(["anna", "--data", "data"])),
    ("users export", .words(["anna", "--to", "anna-data", "--data", "data"])),
    ("users delete", .leftOut("writes into the store alone, as 'users sign-out' does")),
    ("keys add-api-token", .words(["web"] + inContainer)),
    ("keys add-server-key", .words(["feed", "--new-private-key", "feed.pem"] + inContainer)),
    ("keys add-admin-key", .words(["--label", "me", "--data", "data"])),
    ("keys list", .words(["--data", "data"])),
    ("keys revoke", .leftOut("is not given a key: 'users sign-out' writes in the same way")),
    ("schema import", .words(["files.ckdb"] + inContainer)),
    ("schema validate", .words(["files.ckdb"])),
    ("schema deploy", .words(inContainer)),
    ("schema export", .words(["--output", "exported.ckdb"] + inContainer)),
    ("schema status", .words(["--data", "data"])),
    ("roles grant", .words(["editor", "anna"] + inContainer)),
    ("roles list", .words(inContainer)),
    ("roles revoke", .words(["editor", "anna"] + inContainer)),
    ("zones save", .words(["Notes"] + notes)),
    ("zones list", .words(notes)),
    ("zones delete", .words(["Notes"] + notes)),
    (
      "subscriptions save", .words(["s", "--type", "Note", "--subscriber", "anna"] + inContainer)
    ),
    ("subscriptions list", .words(inContainer)),
    ("subscriptions show", .words(["s", "--subscriber", "anna"] + inContainer)),
    ("records import", .words(["notes.jsonl", "--assets", "assets"] + inContainer)),
    ("records put", .words(["b", "title=Milk", "--type", "Note"] + inContainer)),
    ("records get", .words(["a"] + inContainer)),
    ("records query", .words(["--type", "Note"] + inContainer)),
    (
      "records export",
      .words(["--output", "out.jsonl", "--assets", "exported/assets"] + inContainer)
    ),
    ("devices list", .words(["--data", "data"])),
    ("devices remove", .leftOut("writes into the store alone, as 'records delete' does")),
    ("notifications list", .words(inContainer)),
    ("notifications watch", .leftOut("reads from a server over HTTP, and writes to its output")),
    ("explain record", .words(["a"] + inContainer)),
    ("explain subscription", .words(["s", "--subscriber", "anna"] + inContainer)),
    ("explain dry-run", .words(["record", "--file", "dry-run.json"] + inContainer)),
    ("servers list", .leftOut("reads from PostgreSQL, and writes to its output")),
    ("databases partition", .words(inContainer)),
    ("records delete", .words(["b"] + inContainer)),
    ("shares list", .words(inContainer)),
    ("shares show", .leftOut("reads from the store, as 'shares list' does")),
    ("shares remove", .leftOut("writes into the store alone, as 'records delete' does")),
    ("shares end", .leftOut("writes into the store alone, as 'records delete' does")),
    ("shares new-link", .leftOut("writes into the store alone, as 'records delete' does")),
    ("subscriptions delete", .words(["s", "--subscriber", "anna"] + inContainer)),
    ("doctor", .words(["--offline", "--data", "data"])),
    ("serve", .until("listens on", ["--data", "data", "--port", "0"])),
    ("config", .words(["--data", "data"])),
    ("limits", .words(["--data", "data"])),
    ("backup", .words(["backups/first", "--data", "data"])),
    ("restore", .words(["backups/first", "--data", "restored"])),
    ("store restored", .words(["--data", "restored"])),
    ("store migrate", .leftOut("needs PostgreSQL: its files are made as those of a new store are")),
    ("demo", .words(["--data", "demo", "--earthquakes", "quakes.csv"])),
    ("completions", .words(["bash"])),
    ("manual", .words(["man"])),
    ("version", .words([])),
  ]

  /// The same of the benchmarks.
  private static let benchmarks: [(command: String, use: Use)] = [
    ("changes", .words(["--records", "1000", "--rounds", "1"] + small)),
    (
      "query",
      .words(["--records", "1000", "--repeats", "1", "--warm-up", "1", "--depth", "2"] + small)
    ),
    ("testcloud", .words(["--count", "1"])),
    (
      "sync",
      .words(
        [
          "--changes", "100", "--records", "20", "--pending", "20", "--delays", "1", "--rounds",
          "1",
        ]
          + small)
    ),
    (
      "simulate",
      .words(
        ["--saves", "10", "--users", "100", "--subscriptions", "100", "--seconds", "1"]
          + ["--plot", "plot.svg"])
    ),
    ("save", .leftOut("starts a server in a folder, as 'changes' does")),
    ("notify", .leftOut("starts a server in a folder, as 'changes' does")),
    ("explain", .leftOut("starts a server in a folder, as 'changes' does")),
    ("fanout", .leftOut("starts a server in a folder, as 'changes' does")),
    ("share", .leftOut("starts a server in a folder, as 'changes' does")),
    ("match", .leftOut("runs Python, which makes its files with the umask of petrel-bench")),
    ("push", .leftOut("runs h2load, which reads a file that is made as that of --plot is")),
    ("cluster", .leftOut("runs PostgreSQL, whose files are in a folder of mode 700")),
    ("partition", .leftOut("runs PostgreSQL, whose files are in a folder of mode 700")),
  ]

  /// A program is started by these words, so that all that it makes could be read by everybody.
  private static let openly = ["/bin/sh", "-c", #"umask 000; exec "$@""#, "sh"]

  /// Returns the files in a folder that other users may access. The tests' own records of the
  /// programs' output are left out.
  private func openFiles(in folder: String) -> [String] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name in
      var information = stat()
      guard !name.hasSuffix(".out"), lstat(folder + "/" + name, &information) == 0,
        information.st_mode & S_IFMT != S_IFLNK, information.st_mode & 0o077 != 0
      else { return nil }
      return "\(name) \(String(information.st_mode & 0o777, radix: 8))"
    }
  }

  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-private-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["", "/assets", "/home", "/tmp"] {
      #expect(mkdir(folder + name, 0o700) == 0)
    }
    try await body(folder)
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
  }

  @Test("every command is considered")
  func commands() async throws {
    #expect(try await Set(Program.commandNames()) == Set(Self.uses.map(\.command)))
    #expect(
      try await Set(Program.commandNames(of: "petrel-bench"))
        == Set(Self.benchmarks.map(\.command)))
  }

  @Test("with any umask, what commands make is open to nobody else, while they run and after")
  func permissions() async throws {
    try await withFolder { folder in
      try write(
        """
        DEFINE SCHEMA
        CREATE ROLE editor;
        RECORD TYPE Note (title STRING QUERYABLE, photo ASSET, "___recordID" REFERENCE QUERYABLE);
        """, to: folder + "/files.ckdb")
      let checksum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
      try write("hello", to: folder + "/assets/\(checksum)")
      try write(
        #"{"recordName":"a","recordType":"Note","fields":{"photo":{"value":{"fileChecksum":"#
          + #""\#(checksum)","size":5},"type":"ASSETID"}}}"# + "\n", to: folder + "/notes.jsonl")
      try write(
        #"{"event":"create","record":{"recordName":"c","recordType":"Note","fields":{}}}"#,
        to: folder + "/dry-run.json")
      try write(
        RepositoryFile.text("Examples/EarthquakeAlerts/fiji-earthquakes.csv").split(separator: "\n")
          .prefix(20)
          .joined(separator: "\n") + "\n", to: folder + "/quakes.csv")
      let environment = [
        "HOME": folder + "/home", "TMPDIR": folder + "/tmp/",
        "XDG_CONFIG_HOME": folder + "/config", "XDG_STATE_HOME": folder + "/state",
      ]
      #expect(openFiles(in: folder) == [])

      var running: [Program] = []
      let runs =
        Self.uses.map { ("petrel", $0.command, $0.use) }
        + Self.benchmarks.map { ("petrel-bench", $0.command, $0.use) }
      for (name, command, use) in runs {
        let words = command.split(separator: " ").map(String.init)
        func start(_ more: [String], input: String? = nil) throws -> Program {
          try Program(
            name, words + more, environment: environment, input: input, through: Self.openly,
            in: folder)
        }
        switch use {
        case .leftOut: continue
        case .words(let more, let input):
          let program = try start(more, input: input)
          var open: [String] = []
          try await eventually("\(name) \(command) ends") {
            open += openFiles(in: folder)
            return !program.isRunning
          }
          #expect(open == [], "\(name) \(command)")
          #expect(try await program.end() == 0, "\(name) \(command): \(program.output)")
        case .until(let text, let more):
          let program = try start(more)
          running.append(program)
          try await program.line(containing: text)
        }
        #expect(openFiles(in: folder) == [], "\(name) \(command)")
      }
      for program in running {
        program.signal(SIGTERM)
        _ = try await program.end()
      }
      #expect(openFiles(in: folder) == [])
      // What was to be made was made.
      for name in [
        "data/petrel.sqlite", "data/petrel.sqlite-assets/arrivals", "feed.pem",
        "exported.ckdb", "out.jsonl", "exported/assets/\(checksum)", "apns/authority.pem",
        "backups/first/petrel.sqlite", "restored/petrel.sqlite", "plot.svg",
      ] {
        #expect(FileManager.default.fileExists(atPath: folder + "/" + name), "\(name)")
      }
    }
  }

  @Test("a backup that everybody may read is restored into files that nobody else may")
  func restoring() async throws {
    try await withFolder { folder in
      func petrel(_ words: String...) async throws {
        let program = try Program("petrel", words, through: Self.openly, in: folder)
        #expect(try await program.end() == 0, "\(words): \(program.output)")
      }
      try await petrel("users", "add", "anna", "--data", "data")
      try await petrel("backup", "copy", "--data", "data")
      chmod(folder + "/copy", 0o755)
      chmod(folder + "/copy/petrel.sqlite", 0o644)
      try await petrel("restore", "copy", "--data", "restored")
      try await petrel("users", "list", "--data", "restored")
      #expect(openFiles(in: folder + "/restored") == [])
    }
  }

  @Test(
    "a client's device ID and its long-lived operations are open to nobody else",
    .enabled(if: Program.isBuilt("OperationProbe"), "the program OperationProbe is not built"))
  func client() async throws {
    try await Cloud.run { cloud in
      try await withFolder { folder in
        let program = try Program(
          "OperationProbe", ["hang", "a"],
          environment: [
            "HOME": folder + "/home", "TMPDIR": folder + "/tmp/",
            "XDG_CONFIG_HOME": folder + "/config", "XDG_STATE_HOME": folder + "/state",
            "PETREL_CONTAINER": Cloud.container,
            "PETREL_SERVER": await cloud.serverURL.absoluteString,
            "PETREL_TOKEN": try await cloud.token(of: "anna"),
          ], through: Self.openly, in: folder)
        try await program.line(containing: "saved a")
        // In the home directory Foundation makes folders of its own, and leaves them empty.
        #expect(openFiles(in: folder).filter { !$0.hasPrefix("home/") } == [])
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
        #expect(files.contains("config/petrel/device-id"), "\(files)")
        #expect(files.contains { $0.hasSuffix("/operation") }, "\(files)")
        try await program.kill()
      }
    }
  }
}
