/// The entries of a user's notification log since a token, as a sequence of pages. An addition of Petrel.
///
/// The client has one page in memory at a time: at most 200 notifications, and about 1 MiB of contents. A long log
/// therefore needs little memory.
///
/// ```swift
/// for try await page in container.petrelNotificationPages(since: savedToken) {
///   if page.isRestart { forgetWhatIsShown() }
///   handle(page.notifications)
///   savedToken = page.token
/// }
/// ```
///
/// The sequence ends at the end of the log. If the token has expired, the sequence continues once from the beginning of
/// the log, with a page whose ``PetrelNotificationPage/isRestart`` is true. If a token expires a second time, the
/// sequence throws `changeTokenExpired`. Its other errors are the same `CKError`s as those of
/// `CKFetchNotificationChangesOperation`.
public struct PetrelNotificationPages: AsyncSequence, Sendable {
  /// The elements of the sequence.
  public typealias Element = PetrelNotificationPage
  /// The errors of the sequence; each is a ``CKError``.
  public typealias Failure = any Error

  let container: CKContainer
  /// The token to begin with; `nil` means the beginning of the log.
  let token: CKServerChangeToken?

  /// Returns an iterator that begins with the sequence's token. Each iterator sends requests of its own.
  public func makeAsyncIterator() -> Iterator {
    Iterator(container: container, token: token)
  }

  /// The reader of the pages. Each call of `next` sends one request, or two when the token has expired.
  public struct Iterator: AsyncIteratorProtocol {
    let container: CKContainer
    var token: CKServerChangeToken?
    /// The largest number of notifications in a page; 0 lets the server choose.
    var limit = 0
    /// Whether `next` returns `nil` from now on: it has returned the last page, or a request failed.
    private var isAtEnd = false
    /// Whether the iterator has already started again from the beginning of the log, which it does once.
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
