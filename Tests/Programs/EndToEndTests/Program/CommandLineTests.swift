import CloudKit
import Testing
import Waiting

@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct CommandLineTests {
  private func run(
    _ words: [String], environment: [String: String] = [:], through launcher: [String] = []
  ) async throws -> (status: Int32, output: String) {
    let folder = NSTemporaryDirectory() + "petrel-words-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let program = try Program(
      "petrel", words, environment: environment, through: launcher, in: folder)
    return (try await program.end(), program.output)
  }

  @Test("without words there is the overview, by matters")
  func overview() async throws {
    let bare = try await run([])
    let asked = try await run(["help"])
    #expect(bare.status == 64 && asked.status == 0)
    #expect(bare.output == asked.output)
    #expect(try await run(["-h"]) == asked)
    #expect(asked.output.contains("\nRun a server\n  serve "))
    #expect(asked.output.contains("\nManage access\n"))
    #expect(try await run(["--version"]) == run(["version"]))
    #expect(asked.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test("each command has its help, with an example that it would understand")
  func examples() async throws {
    let names = try await Program.commandNames()
    #expect(names.count > 30 && names.contains("store init") && names.contains("keys list"))
    for name in names {
      let words = name.split(separator: " ").map(String.init)
      let help = try await run(["help"] + words)
      #expect(help.status == 0 && help.output.hasPrefix("petrel \(name)"), "\(name)")
      #expect(try await run(words + ["--help"]) == help)
      let lines = help.output.split(separator: "\n")
      let index = try #require(lines.firstIndex(of: "example"), "\(name)")
      let example = lines[index + 1]
      #expect(example.contains("petrel \(name)"), "\(example)")
      for word in example.split(separator: " ") where word.hasPrefix("--") {
        #expect(
          lines.contains { $0.hasPrefix("  \(word) ") }, "\(name) has no option \(word): \(example)"
        )
      }
    }
  }

  @Test(
    "what is mistyped gets the nearest word",
    arguments: [
      ("serv", "'petrel serve'"), ("sevre", "'petrel serve'"), ("keys lst", "'petrel keys list'"),
      ("user list", "'petrel users list'"), ("key", "'petrel keys'"), ("hepl", "'petrel help'"),
      ("help docter", "'petrel doctor'"), ("simulate", "'petrel simulate-apns'"),
      ("serve --prot 1", "--port"), ("doctor --ofline", "--offline"),
    ])
  func nearest(_ words: String, _ expected: String) async throws {
    let answer = try await run(words.split(separator: " ").map(String.init))
    #expect(answer.status == 64)
    #expect(answer.output.hasPrefix("petrel: "), "\(answer.output)")
    #expect(answer.output.contains("did you mean \(expected)?"), "\(answer.output)")
  }

  @Test("what is nothing like a command gets no guess")
  func noGuess() async throws {
    let answer = try await run(["frobnicate"])
    #expect(answer.status == 64)
    #expect(answer.output == "petrel: unknown command 'frobnicate'; see petrel --help\n")
  }

  @Test(
    "a line that lacks its command prints nothing on standard output",
    arguments: ["", "users", "explain"])
  func missingCommand(_ word: String) async throws {
    let words = word.isEmpty ? [] : [word]
    let output = try await run(
      words, through: ["/bin/sh", "-c", "exec \"$0\" \"$@\" 2>/dev/null"])
    #expect(output == (64, ""))
    let both = try await run(words)
    #expect(both.output.contains("  \(word) "))
    #expect(both.output.hasPrefix("petrel: '\(word)' needs a second word:\n") != word.isEmpty)
  }

  @Test("the error for an https address of a server without TLS says so")
  func plainServer() async throws {
    try await Cloud.run { cloud in
      let server = "https://127.0.0.1:\(await cloud.serverPort)"
      let answer = try await run(
        ["users", "list", "--server", server], environment: ["PETREL_ADMIN_KEY": "key"])
      #expect(answer.status == 1)
      #expect(
        answer.output.hasSuffix(
          " does not answer with TLS; check whether its URL begins with http:\n"),
        "\(answer.output)")
    }
  }

  @Test("the help of a command shows the options that it needs in its line")
  func requiredOptions() async throws {
    let help = try await run(["records", "query", "--help"]).output
    #expect(help.hasPrefix("petrel records query --container IDENTIFIER --type TYPE [OPTION…]\n"))
    #expect(help.contains("the record type; required\n"))
  }

  @Test("the first word of commands with options asks for the second word")
  func firstWordAlone() async throws {
    let answer = try await run(["explain", "--record", "b"])
    #expect(answer.status == 64)
    #expect(answer.output == "petrel: 'explain' needs a second word; see petrel explain --help\n")
  }

  /// Runs the program on a terminal of its own.
  private func onTerminal(
    _ word: String, _ environment: [String: String] = [:]
  ) async throws -> String {
    // The program's path and its word come behind the shell's line.
    try await run(
      [word], environment: ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 },
      through: [
        "/bin/sh", "-c", "exec script --quiet --return --command \"'$0' $1\" /dev/null",
      ]
    ).output
  }

  @Test(
    "colours are for terminals that want them",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "no script(1)"))
  func colours() async throws {
    let escape = "\u{1B}["
    #expect(try await onTerminal("help").contains("\(escape)1mRun a server\(escape)0m"))
    #expect(try await onTerminal("serv").contains("\(escape)1;31mpetrel:\(escape)0m unknown"))
    for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      let plain = try await onTerminal("help", environment)
      #expect(plain.contains("Run a server") && !plain.contains(escape), "\(environment)")
    }
    let piped = try await run(["help"], environment: ["TERM": "xterm"])
    #expect(!piped.output.contains(escape))
  }
}
