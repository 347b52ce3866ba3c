import CloudKit

/// The program `SyncedNotes`: notes that work without a network, and that are the same on all devices
/// of a user.
@main
enum Program {
  static func main() async {
    let isInteractive = isatty(STDIN_FILENO) != 0
    // The changes of other devices come while the program waits for a line. They erase the prompt, and
    // print it again.
    let prompt = isInteractive ? "\r\u{1B}[K> " : ""
    let output: @Sendable (String) -> Void = { text in
      print((isInteractive ? "\r\u{1B}[K" : "") + text + "\n" + prompt)
    }
    guard CommandLine.arguments.count == 2 else {
      fail("the argument is the file in which this device keeps its notes, such as notes.json")
    }
    do {
      let file = try NoteFile(URL(fileURLWithPath: CommandLine.arguments[1]))
      let store = NoteStore(container: .default(), file: file, output: output)
      let commands = NoteCommands(notes: store, output: output)
      print(prompt)
      await store.connect()
      for await line in lines {
        guard await commands.run(line) else { break }
        print(prompt)
      }
      await commands.leave()
    } catch let error as NoteError {
      fail(error.text)
    } catch {
      fail(error.localizedDescription)
    }
  }

  /// The lines of the standard input. A thread of its own waits for them.
  private static var lines: AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }

  private static func print(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  private static func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data("SyncedNotes: \(text)\n".utf8))
    exit(EXIT_FAILURE)
  }
}
