import CloudKitModel
import Testing
import WebServices

struct ServicePathTests {
  @Test("A database's path is read and written", arguments: DatabaseScope.allCases)
  func database(scope: DatabaseScope) throws {
    for environment in ContainerEnvironment.allCases {
      for operation in ["records/modify", "subscriptions/list", "records/query", "users/caller"] {
        let path =
          "/database/1/iCloud.com.example.app/\(environment.rawValue)/\(scope.pathComponent)/"
          + operation
        let read = try ServicePath(parsing: path)
        #expect(
          read
            == ServicePath(
              container: "iCloud.com.example.app", environment: environment, scope: scope,
              operation: operation))
        #expect(read.description == path)
      }
    }
  }

  @Test(
    "Tokens are found at both places, with a database and without",
    arguments: [
      "/device/1/iCloud.x/production/tokens/create",
      "/device/1/iCloud.x/production/public/tokens/create",
      "/database/1/iCloud.x/production/tokens/create",
      "/database/1/iCloud.x/production/public/tokens/create",
      "/database/1/iCloud.x/production/private/tokens/create",
      "//device/1/iCloud.x/production/tokens/create/",
    ])
  func tokens(path: String) throws {
    let read = try ServicePath(parsing: path)
    #expect(
      read
        == ServicePath(
          container: "iCloud.x", environment: .production, scope: nil, operation: "tokens/create"))
    #expect(read.description == "/device/1/iCloud.x/production/tokens/create")
  }

  private static let expectation =
    "expected /database/1/{container}/{environment}/{database}/{operation}"

  @Test(
    "A wrong path says which part is wrong",
    arguments: [
      (
        "/", .notFound,
        "no such path: /; \(expectation)"
      ),
      (
        "/database/1/iCloud.x", .notFound,
        "no such path: /database/1/iCloud.x; \(expectation)"
      ),
      (
        "/api/1/iCloud.x/production/public/records/query", .notFound,
        "no such path: /api/1/iCloud.x/production/public/records/query; \(expectation)"
      ),
      (
        "/database/2/iCloud.x/production/public/records/query", .badRequest,
        "protocol version '2' is not supported; use 1"
      ),
      (
        "/database/1/com.x/production/public/records/query", .badRequest,
        "container 'com.x' must begin with 'iCloud.'"
      ),
      (
        "/database/1/iCloud.x\n/production/public/records/query", .badRequest,
        "the container must have at most 255 bytes and no control characters"
      ),
      (
        "/database/1/iCloud.\(String(repeating: "x", count: 249))/production/public/records/query",
        .badRequest, "the container must have at most 255 bytes and no control characters"
      ),
      (
        "/database/1/iCloud.x/staging/public/records/query", .badRequest,
        "environment 'staging' must be development or production"
      ),
      (
        "/database/1/iCloud.x/production/records/query", .badRequest,
        "the database must be public, private or shared"
      ),
      (
        "/database/1/iCloud.x/production", .badRequest,
        "the database must be public, private or shared"
      ),
      (
        "/database/1/iCloud.x/production/PUBLIC/records/query", .badRequest,
        "the database must be public, private or shared"
      ),
    ] as [(String, ServerErrorCode, String)])
  func mistakes(path: String, code: ServerErrorCode, expected: String) {
    do {
      let read = try ServicePath(parsing: path)
      Issue.record("read as \(read)")
    } catch {
      #expect(error.code == code)
      #expect(error.reason == expected)
    }
  }
}
