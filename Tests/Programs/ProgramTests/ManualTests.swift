import CommandInterface
import Configuration
import Foundation
import RepositoryFiles
import Settings
import Storage
import Testing

@testable import petrel

struct ManualTests {
  private let manual = Manual(program: Program.petrel)

  @Test("docs/reference/commands.md is what 'petrel manual markdown' writes")
  func page() throws {
    #expect(try RepositoryFile.text("docs/reference/commands.md") == manual.markdown)
  }

  @Test("docs/reference/configuration.md has the tables that 'petrel manual configuration' writes")
  func settings() throws {
    let page = try RepositoryFile.text("docs/reference/configuration.md")
    #expect(try ConfigurationPage.renewing(page) == page)
  }

  @Test("CHANGELOG.md begins with the program's version and the schema version of its store")
  func changes() throws {
    let changes = try RepositoryFile.text("CHANGELOG.md")
    let newest = try #require(changes.split(separator: "\n## ").dropFirst().first)
    #expect(newest.hasPrefix(ServerVersion.current), "\(newest.prefix(20))")
    #expect(newest.contains("Schema version of the store: \(Schema.newestVersion)."))
  }

  @Test("a page is refused that lacks a table, has one too many, or does not end one")
  func pages() throws {
    let names = ["server.json", "limits"]
    for page in [
      names.map { "<!-- settings of \($0) -->\n<!-- end of settings -->\n" }.joined(),
      "<!-- settings of nothing -->\n<!-- end of settings -->\n", "<!-- settings of limits -->\n",
    ] {
      #expect(throws: ConfigurationError.self) { try ConfigurationPage.renewing(page) }
    }
  }

  @Test("the manual has each command with its options, in both formats")
  func isWhole() {
    for command in Program.petrel.commands {
      #expect(
        manual.markdown.contains("### \(command.name)\n\n\(command.summary)"), "\(command.name)")
      for option in command.options {
        #expect(manual.markdown.contains("`\(option.usage)`"), "\(command.name) \(option.name)")
        let typed = option.usage.replacing("-", with: "\\-")
        #expect(manual.man.contains("\n.B \(typed)\n"), "\(command.name) \(option.name)")
      }
    }
  }

  @Test(
    "man reads the page without complaint",
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff"), "groff is not there"))
  func groff() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).1")
    try manual.man.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    let output = Pipe()
    let complaints = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/groff")
    process.arguments = ["-man", "-Tutf8", "-ww", "-k", file.path]
    process.standardOutput = output
    process.standardError = complaints
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complained = complaints.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && complained.isEmpty)
    #expect(text.contains("Runs the server until it is interrupted."))
  }
}
