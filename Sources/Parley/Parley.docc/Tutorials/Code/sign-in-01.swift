import Parley
import ParleyObservation
import SwiftUI

struct SignInView: View {
    let session: SessionModel
    @State private var username = ""
    @State private var password = ""

    var body: some View {
        VStack {
            TextField("Username", text: $username)
            SecureField("Password", text: $password)
            if let error = session.error {
                Text(error.isTemporary ? "The server cannot be reached." : "Username or password is wrong.")
            }
            Button("Sign in") {
                Task { await session.signIn(.password(username: username, password: password)) }
            }
            .disabled(session.isBusy)
        }
    }
}
