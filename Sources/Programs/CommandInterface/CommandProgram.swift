import CMemoryAllocation
import Foundation
import Settings

/// A command-line program: a list of commands, from which it selects and runs the one that the user
/// typed.
///
/// The program answers `help`, `--help` and `-h` itself. For `--version` it runs the command
/// `version`, if there is one.
package struct CommandProgram {
  /// A group of commands under one title in the overview.
  package struct Section {
    /// The title; `nil` if the program has only one section.
    package var title: String?
    /// The commands in the order of the overview.
    package var commands: [any Command]

    package init(_ title: String?, _ commands: [any Command]) {
      self.title = title
      self.commands = commands
    }
  }

  /// The program's name as the user types it, such as `petrel`.
  package let name: String
  /// One sentence that says what the program does, for the top of the overview.
  package let summary: String
  /// Returns the advice for a new user, which the overview shows before the commands. If the text
  /// is empty, the overview has no such paragraph.
  package let advice: @Sendable (TextStyle) -> String
  /// The commands in groups, in the order of the overview.
  package let sections: [Section]

  package init(
    _ name: String, _ summary: String,
    advice: @escaping @Sendable (TextStyle) -> String = { _ in "" },
    sections: [Section]
  ) {
    self.name = name
    self.summary = summary
    self.advice = advice
    self.sections = sections
  }

  package var commands: [any Command] { sections.flatMap(\.commands) }

  /// Sets the process's file mode mask and the limits of the memory allocator. Call it before any
  /// other work.
  package static func prepareProcess() {
    // Only the user of the process may read files that a command creates. This includes files that
    // a library or a child process creates.
    umask(0o077)
    // An allocation of 4 MB or more goes back to the system when it is freed. Without a fixed
    // threshold, glibc raises the threshold up to 32 MB when the first large block is freed. An
    // index that loses most of its subscriptions would then keep most of its memory. Memory that is
    // allocated repeatedly is smaller than 4 MB: getting new pages from the system costs more than
    // filling them. For the same reason, the end of the heap goes back only when 16 MB of it are
    // free; the default is 128 KB.
    mallopt(M_MMAP_THRESHOLD, 4 << 20)
    mallopt(M_TRIM_THRESHOLD, 16 << 20)
  }

  /// Runs the command that the words name, or prints the help for it.
  ///
  /// An error is printed on standard error with the name of the command. Without words, the
  /// overview is printed there, and the status is ``ExitStatus/usage``. If a part of the output
  /// could not be written, the status is not ``ExitStatus/done``.
  ///
  /// - Parameter words: The arguments of the process without the program's name.
  package func run(_ words: [String]) async -> Int32 {
    let status = await perform(words)
    guard status == ExitStatus.done, let reason = Output.lossReason else { return status }
    Output.complain("the output cannot be written: \(reason)")
    return ExitStatus.failed
  }

  private func perform(_ words: [String]) async -> Int32 {
    guard let first = words.first else {
      Output.writeError(help.overview(.errors))
      return ExitStatus.usage
    }
    if ["help", "--help", "-h"].contains(first) {
      return help(words.dropFirst().filter { !$0.hasPrefix("-") })
    }
    if first == "--version", command(named: ["version"]) != nil {
      return await perform(["version"] + words.dropFirst())
    }
    guard let command = command(named: words) else { return noCommand(words) }
    let rest = words.dropFirst(command.name.split(separator: " ").count)
    if rest.contains("--help") || rest.contains("-h") {
      Output.write(help.text(of: command, .output))
      return ExitStatus.done
    }
    do {
      return try await command.run(Arguments(rest, options: command.options))
    } catch let error as UsageError {
      Output.complain("\(command.name): \(error); see \(name) help \(command.name)")
      return ExitStatus.usage
    } catch let error as InputFile.Failure {
      Output.complain("\(command.name): \(error)")
      return ExitStatus.usage
    } catch {
      Output.complain("\(command.name): \(error)")
      return ExitStatus.failed
    }
  }

  private var help: Help { Help(program: self) }

  private func command(named words: [String]) -> (any Command)? {
    commands.first { words.starts(with: $0.name.split(separator: " ").map(String.init)) }
  }

  /// Prints the help for the words after `help`: the help of one command, the list of all commands
  /// with that first word, or the overview.
  private func help(_ words: [String]) -> Int32 {
    guard let first = words.first else {
      Output.write(help.overview(.output))
      return ExitStatus.done
    }
    if let command = command(named: words) {
      Output.write(help.text(of: command, .output))
      return ExitStatus.done
    }
    guard words.count == 1, let text = help.text(ofGroup: first) else {
      return noCommand(words)
    }
    Output.write(text)
    return ExitStatus.done
  }

  /// Handles words that name no command, or only the first word of a command's name, such as `keys`
  /// in `keys list`. It prints an error or the help for that first word.
  ///
  /// - Returns: ``ExitStatus/usage``; ``ExitStatus/done`` if `--help` or `-h` follows the first
  ///   word.
  private func noCommand(_ words: [String]) -> Int32 {
    let rest = words.dropFirst()
    let group = help.text(ofGroup: words[0])
    if rest.isEmpty, let group {
      Output.complain("'\(words[0])' needs a second word:")
      Output.writeError(group)
      return ExitStatus.usage
    }
    if let group, rest.allSatisfy({ ["--help", "-h"].contains($0) }) {
      Output.write(group)
      return ExitStatus.done
    }
    let typed = words.prefix(2).filter { !$0.hasPrefix("-") }.joined(separator: " ")
    if group != nil, typed == words[0] {
      Output.complain("'\(typed)' needs a second word; see \(name) \(typed) --help")
      return ExitStatus.usage
    }
    let near = help.nearest(to: typed).map { "did you mean '\(name) \($0)'?" }
    Output.complain(
      "unknown command '\(typed.isEmpty ? words[0] : typed)'; \(near ?? "see \(name) --help")")
    return ExitStatus.usage
  }
}
