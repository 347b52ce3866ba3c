import CloudKit
import Testing
import Waiting

/// The completions as the shells themselves have them.
@Suite(.enabled(if: Program.isBuilt("petrel"), "the program petrel is not built"))
struct CompletionTests {
  private static func path(of shell: String) -> String? {
    ["/bin/", "/usr/bin/"].map { $0 + shell }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  /// Returns the words that a shell offers at the end of a line. The folder has `d`, a directory,
  /// and `f`, a file.
  private func choices(_ shell: String, _ line: String) async throws -> [String] {
    let folder = NSTemporaryDirectory() + "petrel-shell-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder + "/d", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data().write(to: URL(fileURLWithPath: folder + "/f"))
    let program = try Program("petrel", ["completions", shell], in: folder)
    #expect(try await program.end() == 0)
    let scripts = folder + "/scripts"
    try FileManager.default.createDirectory(atPath: scripts, withIntermediateDirectories: true)
    try Data(program.output.utf8).write(to: URL(fileURLWithPath: scripts + "/_petrel"))
    let driver = try #require(Self.drivers[shell])
    try Data(driver.utf8).write(to: URL(fileURLWithPath: scripts + "/driver"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.path(of: shell)))
    process.arguments =
      (shell == "bash" ? ["--norc"] : shell == "zsh" ? ["-f"] : ["--no-config"])
      + [scripts + "/driver", line]
    process.environment = ["HOME": folder, "PATH": "/usr/bin:/bin", "TERM": "dumb"]
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map { $0.components(separatedBy: "\t")[0] }.sorted()
  }

  /// Programs that complete a line and print what is offered.
  private static let drivers = [
    "bash": #"""
    source scripts/_petrel
    # As readline does: the sign of equality is a word of its own.
    read -r -a COMP_WORDS <<<"${1//=/ = }"
    [[ $1 == *[\ =] ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _petrel
    printf '%s\n' "${COMPREPLY[@]}"
    """#,
    "fish": #"""
    source scripts/_petrel
    complete -C $argv[1]
    """#,
    "zsh": #"""
    zmodload zsh/zpty zsh/zselect
    cat > scripts/inner <<'END'
    fpath=($PWD/scripts $fpath)
    autoload -Uz compinit && compinit -u -D
    typeset -ga offered
    compadd() {
      if [[ " ${(j: :)@} " == *' -'[OAD]' '* ]]; then builtin compadd "$@"; return $?; fi
      local -a found
      builtin compadd -A found "$@"
      offered+=($found)
      builtin compadd "$@"
    }
    finish() { print -l -- $offered > scripts/writing; mv scripts/writing scripts/offered }
    comppostfuncs=(finish)
    bindkey '^I' complete-word
    : > scripts/ready
    END
    zpty -b inner zsh -f -i
    zpty -w inner "source scripts/inner"
    until [[ -e scripts/ready ]]; do zpty -r -t inner line || zselect -t 1; zpty -t inner || exit 1; done
    zpty -w -n inner "$1"$'\t'
    until [[ -e scripts/offered ]]; do zpty -r -t inner line || zselect -t 1; zpty -t inner || exit 1; done
    cat scripts/offered
    """#,
  ]

  private static let shells = ["bash", "zsh", "fish"].filter { path(of: $0) != nil }

  @Test("commands, options, values and files are offered", arguments: shells)
  func offers(shell: String) async throws {
    func offered(_ line: String) async throws -> [String] { try await choices(shell, line) }
    #expect(try await offered("petrel doc") == ["doctor"])
    #expect(try await offered("petrel keys re") == ["revoke"])
    #expect(try await offered("petrel users add") == ["add", "add-token"])
    #expect(try await offered("petrel help users si") == ["sign-out"])
    #expect(try await offered("petrel keys list --cont") == ["--container"])
    #expect(try await offered("petrel doctor --of") == ["--offline"])
    let environments = ["development", "production"]
    #expect(try await offered("petrel keys add-api-token --environment ") == environments)
    #expect(try await offered("petrel completions ") == ["bash", "fish", "zsh"])
    let level = try await offered("petrel serve --log-level=d")
    #expect(level == [shell == "fish" ? "--log-level=debug" : "debug"])
    // Also behind other options and words.
    #expect(
      try await offered("petrel users add anna --data d --expires-in 2d --em") == ["--email"])
  }

  @Test("where a file or a directory is meant, such are offered", arguments: shells)
  func files(shell: String) async throws {
    func offered(_ line: String) async throws -> [String] {
      try await choices(shell, line).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }
    #expect(try await offered("petrel schema validate ").contains("f"))
    #expect(try await offered("petrel serve --config ").contains("f"))
    #expect(try await offered("petrel store migrate --from ").contains("d"))
    let directories = try await offered("petrel serve --data ")
    #expect(directories.contains("d") && !directories.contains("f"), "\(directories)")
  }

  @Test("every command and every option is in each script", arguments: ["bash", "zsh", "fish"])
  func isWhole(shell: String) async throws {
    let folder = NSTemporaryDirectory()
    let program = try Program("petrel", ["completions", shell], in: folder)
    #expect(try await program.end() == 0)
    for name in ["sign-out", "add-server-key", "new-private-key", "public-url", "deep"] {
      #expect(program.output.contains(name), "\(name)")
    }
    let other = try Program("petrel", ["completions", "tcsh"], in: folder)
    #expect(try await other.end() == 64)
  }
}
