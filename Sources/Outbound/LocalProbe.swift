// One request to a server of the same machine, without a thread and without trust in its certificate.
import CLibcurl

package enum LocalProbe {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Returns the status of the answer to a GET. Blocks. A certificate is not checked: it is for the public name, and the
    /// answer is no secret.
    package static func get(_ url: String, timeMaxMs: Int) -> Result<Int, Failure> {
        guard let easy = curl_easy_init() else { return .failure(Failure(description: "libcurl can't be used")) }
        defer { curl_easy_cleanup(easy) }
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_TIMEOUT_MS, timeMaxMs), (CURLOPT_SSL_VERIFYPEER, 0),
            (CURLOPT_SSL_VERIFYHOST, 0),
        ]
        for (option, value) in numbers { _ = parley_curl_set_number(easy, option, value) }
        _ = parley_curl_set_text(easy, CURLOPT_URL, url)
        _ = parley_curl_set_text(easy, CURLOPT_PROXY, "")
        // Without this callback libcurl would print the answer.
        _ = parley_curl_set_io(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
        let code = curl_easy_perform(easy)
        guard code == CURLE_OK else { return .failure(Failure(description: String(cString: curl_easy_strerror(code)))) }
        return .success(parley_curl_status(easy))
    }
}
