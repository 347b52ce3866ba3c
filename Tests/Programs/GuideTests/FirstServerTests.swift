import CloudKit
import RepositoryFiles
import Testing
import Waiting

/// The commands of the guide's page on a first server, as a reader types them.
struct FirstServerTests {
  @Test("The commands of the page lead to a notification and to its explanation")
  func commands() async throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let (server, address) = try await folder.startServer()
    defer { server.terminate() }
    let commands = try folder.commands(of: "docs/guide/first-server.md", server: address)
      // Of the output that the page shows.
      .filter { !$0.contains("listens on") && !$0.contains("its data is in") }
      .map { $0.replacing("explain record NAME", with: "explain record $NAME") }
    #expect(commands.count >= 9)
    let phone = try #require(commands.firstIndex { $0.hasSuffix("FirstProgram &") })
    let query = try #require(commands.firstIndex { $0.contains("records query") })
    // What a reader does by hand: look at the phone, and take a name from a list.
    var script = commands
    script[phone] = script[phone].replacing(
      "FirstProgram &", with: "stdbuf -oL FirstProgram > phone.log &")
    script.insert(
      "NAME=$(\(commands[query]) --predicate 'magnitude > 6' | awk 'NR == 2 { print $1 }')",
      at: query + 1)
    script.insert(
      "until petrel users show anna | grep -q courier; do :; done", at: phone + 1)
    script.insert("until [ -s phone.log ]; do :; done", at: phone + 3)
    let output = try await folder.run(script + ["kill %1"])
    #expect(folder.text("phone.log").contains("subscription strong, recordCreated"))
    #expect(output.contains("strong of anna"), "\(output)")
  }
}
