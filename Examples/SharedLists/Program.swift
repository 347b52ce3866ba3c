import CloudKit

/// The program `SharedLists`: to-do lists that a user shares with others.
@main
enum Program {
  static func main() async {
    let folder =
      FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
      .first ?? URL(fileURLWithPath: ".")
    let commands = ListCommands(
      container: .default(), folder: folder.appendingPathComponent("SharedLists"),
      output: { FileHandle.standardOutput.write(Data(($0 + "\n").utf8)) })
    do {
      try await commands.run(Array(CommandLine.arguments.dropFirst()))
    } catch let error as ListError {
      fail(error.text)
    } catch {
      fail(error.localizedDescription)
    }
  }

  private static func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data("SharedLists: \(text)\n".utf8))
    exit(EXIT_FAILURE)
  }
}
