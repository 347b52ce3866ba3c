import RepositoryFiles
import Testing

@testable import Configuration

/// The examples of `server.json` in the pages.
struct DocumentedConfigurationTests {
  @Test(
    "Each server.json that the guide shows is one that a server takes",
    arguments: ["production", "push-setup", "web-app"])
  func examples(page: String) throws {
    let text = try RepositoryFile.text("docs/guide/\(page).md")
    let examples = text.matches(of: /```json\n(?<json>[^`]*)```/).map { String($0.json) }
    #expect(!examples.isEmpty)
    for example in examples {
      #expect(throws: Never.self, "\(example)") { try ServerConfigurationTests.read(example) }
    }
  }
}
