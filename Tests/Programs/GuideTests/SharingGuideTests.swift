import RepositoryFiles
import Testing

/// The commands of the guide's page on sharing, as a reader types them.
struct SharingGuideTests {
  @Test("The commands of the page print what the page shows")
  func commands() async throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let (server, address) = try await folder.startServer()
    defer { server.terminate() }
    var commands = try folder.commands(of: "docs/guide/sharing.md", server: address)
    #expect(commands.count >= 16)
    // What a reader does by hand: copy the URL, and wait for what the watching program prints.
    func replace(_ command: String, with script: String...) throws {
      let index = try #require(commands.firstIndex(of: command))
      commands.replaceSubrange(index...index, with: script)
    }
    try replace(
      "carla share Groceries ben@example.com",
      with: "carla share Groceries ben@example.com | tee url")
    try replace("ben accept URL", with: "ben accept $(cat url)")
    try replace(
      "carla watch &", with: "set -m", "carla watch > watch.log &",
      "until grep -q watching watch.log; do :; done")
    try replace(
      "kill %1", with: "until grep -qF '[x]' watch.log; do :; done", "cat watch.log", "kill %1")
    let output = try await folder.run(commands)
    let printed = Set(output.split(separator: "\n"))
    let shown = try RepositoryFile.text("docs/guide/sharing.md").split(separator: "```\n")
      .filter { $0.contains("Groceries") && !$0.contains("##") }
      .flatMap { $0.split(separator: "\n") }.filter { !$0.contains("…") }
    #expect(shown.count >= 8)
    for line in shown { #expect(printed.contains(line), "\(line) is not in \(output)") }
  }
}
