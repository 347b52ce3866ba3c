/// A user's notification log since a token, one answer of the server at a time, so that a long log needs no more memory than
/// a page: 200 notifications, and about 1 MiB of contents. Petrel's own.
///
/// ```swift
/// for try await page in container.petrelNotificationPages(since: savedToken) {
///   if page.isRestart { forgetWhatIsShown() }
///   handle(page.notifications)
///   savedToken = page.token
/// }
/// ```
///
/// The sequence ends where the log ends. Where the token has expired, it goes on with a page from the beginning of the
/// log, whose ``PetrelNotificationPage/isRestart`` is true. It does so once: when the server deletes again what the
/// reader has not come to, the sequence throws `changeTokenExpired`. It throws the `CKError`s of
/// `CKFetchNotificationChangesOperation` otherwise.
public struct PetrelNotificationPages: AsyncSequence, Sendable {
  public typealias Element = PetrelNotificationPage
  public typealias Failure = any Error

  let container: CKContainer
  let token: CKServerChangeToken?

  public func makeAsyncIterator() -> Iterator {
    Iterator(container: container, token: token)
  }

  public struct Iterator: AsyncIteratorProtocol {
    let container: CKContainer
    var token: CKServerChangeToken?
    /// Notifications in a page at most; 0 leaves it to the server.
    var limit = 0
    private var isAtEnd = false
    private var hasRestarted = false

    init(container: CKContainer, token: CKServerChangeToken?) {
      self.container = container
      self.token = token
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> PetrelNotificationPage? {
      guard !isAtEnd else { return nil }
      isAtEnd = true
      var page: PetrelNotificationPage
      do {
        page = try await container.notificationPage(since: token, limit: limit)
      } catch let error as CKError
        where error.code == .changeTokenExpired && token != nil && !hasRestarted
      {
        hasRestarted = true
        page = try await container.notificationPage(since: nil, limit: limit)
        page.isRestart = true
      }
      token = page.token
      isAtEnd = !page.moreComing
      return page
    }
  }
}
