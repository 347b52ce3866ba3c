internal import WebServices

/// An operation that gives the web auth token with which a web page acts for the program's user,
/// beside the container's API token.
///
/// ```swift
/// let operation = CKFetchWebAuthTokenOperation(apiToken: apiToken)
/// operation.fetchWebAuthTokenResultBlock = { result in … }
/// container.privateCloudDatabase.add(operation)
/// ```
///
/// The operation asks the server whether it accepts the user, and gives `CKContainer.webAuthToken`.
/// The page and the program share one session: signing out ends it for both.
open class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The API token of the container that the page uses. Without it, the operation fails with
  /// `invalidArguments`.
  open var apiToken: String?
  /// The block that the operation calls once with the token. The failure is `notAuthenticated` if
  /// no user is signed in.
  open var fetchWebAuthTokenResultBlock: ((Result<String, any Error>) -> Void)?
  /// The block that the operation calls once, after ``fetchWebAuthTokenResultBlock``.
  @available(*, deprecated, renamed: "fetchWebAuthTokenResultBlock")
  open var fetchWebAuthTokenCompletionBlock: ((String?, (any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var completion: ((String?, (any Error)?) -> Void)?
  private var webAuthToken: String?

  /// Makes an operation for this API token.
  public convenience init(apiToken: String) {
    self.init()
    self.apiToken = apiToken
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard let apiToken, !apiToken.isEmpty else {
      throw CKError(.invalidArguments, "CKFetchWebAuthTokenOperation: apiToken must not be empty")
    }
    return .caller
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    webAuthToken = try client.get().webAuthToken
    return nil
  }

  override func conclude(_ error: CKError?) {
    let missing = CKError(.notAuthenticated, "no user is signed in with a web auth token")
    let result: Result<String, any Error> =
      webAuthToken.map { .success($0) } ?? .failure(error ?? missing)
    fetchWebAuthTokenResultBlock?(result)
    completion?(result.value, result.error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    fetchWebAuthTokenResultBlock = nil
    completion = nil
  }
}
