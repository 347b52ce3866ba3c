import CMemoryAllocation
import Foundation

/// A program with commands: finds the one that the words name and runs it.
package struct CommandProgram {
  /// Commands that the overview lists under one title.
  package struct Section {
    /// Nil where a program has one section.
    package var title: String?
    package var commands: [any Command.Type]

    package init(_ title: String?, _ commands: [any Command.Type]) {
      self.title = title
      self.commands = commands
    }
  }

  /// As it is typed.
  package let name: String
  /// What it is, in a sentence.
  package let summary: String
  /// What to begin with, for the overview; empty where that is plain.
  package let advice: @Sendable (TextStyle) -> String
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

  package var commands: [any Command.Type] { sections.flatMap(\.commands) }

  /// Sets what holds for the whole process, before anything else is done.
  package static func prepareProcess() {
    // No command makes a file that others than its user may read, also not by way of a library or of
    // another program.
    umask(0o077)
    // What is larger than this goes back to the system when it is freed. Without a fixed limit the C
    // library keeps it, up to 32 MB each, from the first one on that is freed: an index that loses
    // most of its subscriptions would keep most of its memory. What is made again and again is smaller:
    // new memory from the system costs more than to fill it. So does the end of the heap, which by
    // default goes back whenever 128 KB of it are free.
    mallopt(M_MMAP_THRESHOLD, 4 << 20)
    mallopt(M_TRIM_THRESHOLD, 16 << 20)
  }

  /// Runs the command that the words name, or prints the help that they ask for.
  ///
  /// - Returns: the exit status, one of ``ExitStatus``.
  package func run(_ words: [String]) async -> Int32 {
    guard let first = words.first else {
      Output.writeError(help.overview(.errors))
      return ExitStatus.usage
    }
    if ["help", "--help", "-h"].contains(first) {
      return help(words.dropFirst().filter { !$0.hasPrefix("-") })
    }
    if first == "--version", command(named: ["version"]) != nil {
      return await run(["version"] + words.dropFirst())
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
    } catch {
      Output.complain("\(command.name): \(error)")
      return ExitStatus.failed
    }
  }

  private var help: Help { Help(program: self) }

  /// The command that words begin with.
  private func command(named words: [String]) -> (any Command.Type)? {
    commands.first { words.starts(with: $0.name.split(separator: " ").map(String.init)) }
  }

  /// Prints the help for what is named after `help`: a command, those with the same first word, or all.
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

  /// For words that are no command, or only the first word of some, such as `keys`.
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
